import { notFound } from '#shared/http/answer.ts';
import { checkIfField } from '../place/expected-state.ts';
import { hrefOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { evaluateConditions } from '../../answers/preconditions.ts';
import { findQuery, keepQuery, keptAt } from '../query/kept.ts';
import { ACCEPT_QUERY, receiveQuery } from '../query/query-content.ts';
import { resultOf } from '../query/result.ts';
import { redirectToSlash } from '../representation/redirect.ts';
import { represent, representationOf } from '../representation/representation.ts';

export { ACCEPT_QUERY };

/**
 * QUERY (RFC 10008) of a JSON document or of a collection's listing. For ten minutes, a GET of Location repeats
 * the query, and a GET of Content-Location returns this very result if it is short.
 */
export const query: MethodFactory = (services) => async (context, place) => {
  const { request, space } = context;
  const { entry, slash } = place;
  if (entry === undefined) throw notFound();
  if (entry.kind === 'collection' && !slash) return redirectToSlash(context, place);
  const asked = await receiveQuery(request);
  await context.judgeAgain();
  const result = await resultOf(place, asked, request, services);
  await checkIfField(context, place, services);
  const representation = representationOf(result);
  // A query that is answered 304 or 412 is not kept.
  const proceeds = evaluateConditions(request, representation, services.clock.now()) === 'proceed';
  const kept = proceeds ? await keepQuery(services.kept, place, asked, result) : {};
  const href = hrefOf(space, entry);
  const fields = {
    Vary: 'Accept',
    'Accept-Query': ACCEPT_QUERY,
    ...(kept.equivalent && { Location: `${href}?${kept.equivalent}` }),
    ...(kept.result && { 'Content-Location': `${href}?${kept.result}` }),
  };
  return represent(context, { ...representation, fields }, services);
};

/**
 * GET and HEAD of a stored query or result, which `keptAt` finds in the target. Only the principal who sent the query
 * gets it, and all others get 404.
 */
export const getKept: MethodFactory = (services) => async (context, place) => {
  const { request, target } = context;
  const named = place.entry && keptAt(target);
  const found = named && (await findQuery(services.kept, place, named.id));
  if (found === undefined) throw notFound();
  const repeats = named?.kind === 'equivalent';
  const result = repeats ? await resultOf(place, found.query, request, services) : found.result;
  if (result === undefined) throw notFound();
  await checkIfField(context, place, services);
  const fields: Record<string, string> = repeats ? { Vary: 'Accept' } : {};
  return represent(context, { ...representationOf(result), fields }, services);
};
