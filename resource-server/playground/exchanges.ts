import { basicExchange } from './exchanges/basic.ts';
import type { Exchange } from './exchange.ts';

/** THE table of exchanges. Nothing else is ever sent. */
export const EXCHANGES: readonly Exchange[] = [basicExchange];
