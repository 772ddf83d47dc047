import { HttpError } from '#shared/http/answer.ts';
import { preferredType } from '#shared/http/preferred-type.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import type { Place, Services } from '../place/place.ts';
import { type Made, madeOf } from '../place/made.ts';
import type { Query } from './evaluate.ts';
import { Evaluators } from './evaluators.ts';
import { queriedAt } from './queried.ts';
import { RESULT_TYPES } from './results.ts';

/** The result of a query. */
export interface Result extends Made {
  /** The modification date of the queried content, in milliseconds since the epoch. */
  readonly modified?: number;
}

/** Shared by all spaces of the process, since all queries use the same CPU. */
const EVALUATORS = new Evaluators();

/**
 * Evaluates a query at a place, or returns its earlier result if the content has not changed. Rejects with `HttpError`
 * 406 if the client accepts no type of results, else as `Evaluators`, `Evaluator` and `queriedAt` do.
 */
export async function resultOf(
  place: Place,
  query: Query,
  request: AnyRequest,
  { made }: Pick<Services, 'made'>,
): Promise<Result> {
  const type = preferredType(request.headers.accept, RESULT_TYPES);
  if (type === undefined) {
    throw new HttpError(406, `A result is available as ${RESULT_TYPES.join(' or ')}.`, {
      Vary: 'Accept',
    });
  }
  const { store, entry, tree, path, holder } = place;
  const what = ['query', tree, path, type, query.type, query.text];
  const document = entry?.kind === 'document' ? entry : undefined;
  const before = made.find(what, document ? document.file : await store.version());
  if (before !== undefined) return { ...before, ...(document && { modified: document.modified }) };
  return EVALUATORS.use(holder, async (evaluator) => {
    const { content, version, names, ...when } = await queriedAt(place);
    const result = madeOf({
      type,
      content: await evaluator.evaluate({ query, content, as: type, ...(names && { names }) }),
    });
    made.keep(what, version, result);
    return { ...result, ...when };
  });
}
