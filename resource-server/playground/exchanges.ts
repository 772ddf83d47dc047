import { basicExchange } from './exchanges/basic.ts';
import { digestAuthIntExchange, digestExchange } from './exchanges/digest.ts';
import { scramExchange } from './exchanges/scram.ts';
import type { Exchange } from './exchange.ts';

/** THE table of exchanges, in the order of the list. Nothing else is ever sent. */
export const EXCHANGES: readonly Exchange[] = [
  basicExchange,
  digestExchange,
  digestAuthIntExchange,
  scramExchange,
];
