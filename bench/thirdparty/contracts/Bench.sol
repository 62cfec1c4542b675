// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// What most tokens do in a transfer: two balances, one check, one event.
contract Token {
    mapping(address => uint256) public balanceOf;
    event Transfer(address indexed from, address indexed to, uint256 value);

    constructor(uint256 supply) {
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        require(to != address(0), "zero");
        uint256 balance = balanceOf[msg.sender];
        require(balance >= value, "balance");
        unchecked {
            balanceOf[msg.sender] = balance - value;
            balanceOf[to] += value;
        }
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// Holds all tokens and sends `count` of them away, one a call.
contract TokenLoop {
    Token public immutable token = new Token(10 ** 30);

    /// To 256 receivers in turn: their balances are warm after the first round.
    function warm(uint256 count) external returns (uint256) {
        for (uint256 i = 0; i < count; i++) token.transfer(address(uint160(0x1000000 + (i & 255))), 1);
        return token.balanceOf(address(0x1000000));
    }

    /// To a new receiver each time.
    function cold(uint256 count) external returns (uint256) {
        for (uint256 i = 0; i < count; i++) token.transfer(address(uint160(0x10000000000 + i)), 1);
        return token.balanceOf(address(this));
    }
}

contract Fibonacci {
    function run(uint256 n) public pure returns (uint256) {
        return n < 2 ? n : run(n - 1) + run(n - 2);
    }
}
