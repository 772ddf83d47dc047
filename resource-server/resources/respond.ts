import type { Seal } from '#shared/auth/scheme.ts';
import { allow } from '#shared/http/methods.ts';
import { type Fields, methodNotAllowed, notFound } from '#shared/http/answer.ts';
import { accepted, optionsFields } from '../space/options.ts';
import type { Errors } from '../pages/errors.ts';
import { together } from '../answers/together.ts';
import type { Space } from '../space/spaces.ts';
import { traceAnswer } from '../space/trace.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { ResourceContext, ServedResources } from './resource.ts';
import { sealedAnswer } from '../answers/seal.ts';

interface Response {
  /** What the space serves; undefined: nothing. */
  readonly resources: ServedResources | undefined;
  /** That every answer gets, whatever the method says. */
  readonly fields: Fields;
  /** Proves the content of every answer. */
  readonly seal?: Seal<Fields> | undefined;
  /** What somebody is told of an error, which goes to the log. */
  readonly failed: Errors['failed'];
}

/** The answer of a space to somebody who was let in, errors included. */
export async function respond(
  context: ResourceContext,
  { resources, fields, seal, failed }: Response,
): Promise<ResourceAnswer> {
  const { request, space } = context;
  const answer = await perform(context, resources).catch((error: unknown) =>
    failed(request, error),
  );
  const whole = { ...answer, fields: together(answer.fields, variance(space), fields) };
  return sealedAnswer(request, whole, seal, space.at.info);
}

/**
 * The method, what OPTIONS says (RFC 9110 section 9.3.7), 405 with Allow (section 15.5.6) of what accepts
 * other methods, or 404.
 */
async function perform(
  context: ResourceContext,
  resources: ServedResources | undefined,
): Promise<ResourceAnswer> {
  const { request, space } = context;
  const { method = '' } = request;
  if (method === 'TRACE' && space.trace) {
    return traceAnswer(request, [space.trace.hide, space.apiKeyField ?? []].flat());
  }
  const resource = await resources?.find(context);
  if (resource === undefined) throw notFound();
  const methods = accepted(space, resource.methods);
  if (method === 'OPTIONS')
    return { status: 204, fields: optionsFields(methods, resource.options) };
  if (methods.includes(method)) return resource.perform();
  throw resource.missing ? notFound() : methodNotAllowed(allow(methods));
}

/** In trees of their own everybody finds something else at the same URL. */
function variance({ tree, apiKeyField }: Space): Fields {
  return tree === 'own' ? { Vary: ['Authorization', apiKeyField ?? []].flat() } : {};
}
