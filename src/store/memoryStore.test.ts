import { memoryStore } from './memoryStore.ts'
import { storeSuite } from './store.suite.ts'

storeSuite('memory', { create: memoryStore })
