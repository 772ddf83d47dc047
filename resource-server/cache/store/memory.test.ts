import { cacheStoreContract } from './contract/index.ts';
import { MemoryStore } from './memory.ts';

cacheStoreContract({ name: 'memory', open: async (maxBytes) => new MemoryStore(maxBytes) });
