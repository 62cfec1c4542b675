/**
 * The endpoint that Prometheus reads: `GET /metrics` and nothing else, on the loopback interface unless another one is
 * named. Who can reach it can read it. Connections, headers and the time they may take are bounded, and it holds up
 * neither the work nor the end of the process.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { VarveError } from '../../base/index.ts'

export type MetricsAddress = { readonly host: string; readonly port: number }

const CONNECTION_COUNT_MAX = 16
const REQUEST_MS_MAX = 5_000
const HEADER_BYTES_MAX = 8 * 1024

export class MetricsServer {
  private readonly server: Server

  private constructor(server: Server) {
    this.server = server
  }

  /**
   * Listens. @param text made for each answer
   * @throws VarveError METRICS_ADDRESS where it cannot be listened on
   */
  static async open(
    address: MetricsAddress,
    source: { readonly contentType: string; text(): Promise<string> },
  ): Promise<MetricsServer> {
    const server = createServer(
      {
        maxHeaderSize: HEADER_BYTES_MAX,
        headersTimeout: REQUEST_MS_MAX,
        requestTimeout: REQUEST_MS_MAX,
        keepAliveTimeout: REQUEST_MS_MAX,
        connectionsCheckingInterval: REQUEST_MS_MAX,
      },
      (request, response) => {
        answer(request, response, source).catch(() => response.destroy())
      },
    )
    server.maxConnections = CONNECTION_COUNT_MAX
    server.unref()
    await listen(server, address)
    server.on('error', () => undefined)
    return new MetricsServer(server)
  }

  /** Where it listens. Port 0 has become a real one. */
  get url(): string {
    const { address, port, family } = this.server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/metrics`
  }

  /** Stops listening and cuts what is still open. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()))
    this.server.closeAllConnections()
    await closed
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  source: { readonly contentType: string; text(): Promise<string> },
): Promise<void> {
  // A body is of no interest to anybody: the connection ends with the answer.
  response.setHeader('Connection', 'close')
  response.setHeader('X-Content-Type-Options', 'nosniff')
  const path = request.url?.split('?', 1)[0]
  if (path !== '/metrics') {
    response.writeHead(404, PLAIN).end('expected /metrics\n')
    return
  }
  if (request.method !== 'GET') {
    response.writeHead(405, { ...PLAIN, Allow: 'GET' }).end('expected GET\n')
    return
  }
  const text = await source.text()
  response.writeHead(200, { 'Content-Type': source.contentType }).end(text)
}

const PLAIN = { 'Content-Type': 'text/plain; charset=utf-8' }

function listen(server: Server, { host, port }: MetricsAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = error.code === 'EADDRINUSE' ? 'another process listens there' : error.message
      reject(
        new VarveError<MetricsServerErrorCode>(
          'METRICS_ADDRESS',
          `--metrics ${host}:${port}: expected an address to listen on: ${reason}`,
          { host, port },
          { cause: error },
        ),
      )
    })
    server.listen({ host, port, exclusive: true }, resolve)
  })
}

/** Error codes of this module. */
export type MetricsServerErrorCode =
  /** The address of `--metrics` cannot be listened on: it is in use, not ours, or takes rights. */
  'METRICS_ADDRESS'
