import { createHash } from 'node:crypto';
import Negotiator from 'negotiator';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import type { Place } from '../place.ts';
import type { Representation } from '../representation/representation.ts';
import type { Query } from './evaluate.ts';
import { Evaluators } from './evaluators.ts';
import { queriedAt } from './queried.ts';
import { RESULT_TYPES, type ResultType } from './results.ts';

/** What a query came to. */
export interface Result {
  readonly type: ResultType;
  readonly content: Buffer;
  /** Of what was queried; milliseconds since the epoch. */
  readonly modified?: number;
}

/** For all spaces, since the machine is one. */
const EVALUATORS = new Evaluators();

/**
 * Puts a query to a place. Rejects with `HttpError` 406 when the client takes no type of results, else
 * as `Evaluators`, `Evaluator` and `queriedAt` do.
 */
export async function resultOf(place: Place, query: Query, request: AnyRequest): Promise<Result> {
  const type = new Negotiator(request).mediaType([...RESULT_TYPES]) as ResultType | undefined;
  if (type === undefined) {
    throw new HttpError(406, `A result can be had as ${RESULT_TYPES.join(' or ')}.`, {
      Vary: 'Accept',
    });
  }
  return EVALUATORS.use(place.principal, async (evaluator) => {
    const { content, ...when } = await queriedAt(place);
    return { type, content: await evaluator.evaluate({ query, content, as: type }), ...when };
  });
}

/** The result as a representation of the equivalent resource (RFC 10008 section 2.2). */
export function representationOf({ type, content, ...when }: Result): Representation {
  return {
    type,
    length: content.length,
    etag: createHash('sha256').update(content).digest('base64url'),
    ...when,
    content: async ({ first, last } = { first: 0, last: content.length - 1 }) =>
      content.subarray(first, last + 1),
  };
}
