import { andThen, type Awaitable } from '#shared/base/awaitable.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { Exchange } from './exchange.ts';

/** Looks at an exchange, and adds to it or answers it. Undefined: the next step goes on. */
export type Step = (exchange: Exchange) => Awaitable<ResourceAnswer | undefined>;

/**
 * The answer of the first step that has one; undefined: none has, and the last one gave the client its answer, or the
 * beginning of it. Throws or rejects as the steps do.
 */
export function inOrder(
  steps: readonly Step[],
  exchange: Exchange,
  from = 0,
): Awaitable<ResourceAnswer | undefined> {
  const step = steps[from];
  if (step === undefined) return undefined;
  return andThen(step(exchange), (answer) => answer ?? inOrder(steps, exchange, from + 1));
}
