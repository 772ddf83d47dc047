import { type Fields, notFound } from '#shared/http/answer.ts';
import { checkMethod } from '#shared/http/method-rules.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { accepted, optionsFields } from '../space/options.ts';
import type { Errors } from '../pages/errors.ts';
import { mergeFields } from '../answers/merge-fields.ts';
import type { Space } from '../space/spaces.ts';
import { traceAnswer } from '../space/trace.ts';
import type { ResourceAnswer } from '../answers/pieces.ts';
import type { ResourceContext, ServedResources } from './resource/resource.ts';
import { sealedAnswer } from '../answers/seal.ts';

interface Response {
  readonly space: Space;
  /** The resources of the space; undefined if there are none. */
  readonly resources: ServedResources | undefined;
  /** Turns an error into the client's answer, and logs it. */
  readonly failed: Errors['failed'];
}

type Admitted = Pick<Exchange, 'request' | 'target' | 'passed' | 'fields' | 'watch' | 'asked'>;

/** Answers an admitted client of a space. Errors become answers, too. */
export async function respond(
  { request, target, passed, fields, watch, asked }: Admitted,
  { space, resources, failed }: Response,
): Promise<ResourceAnswer> {
  if (passed === undefined || watch === undefined) throw new Error('nobody was let in');
  const { scheme, principal, seal } = passed;
  const { address } = asked().peer;
  const context = { request, space, target, scheme, principal, address, judgeAgain: watch() };
  const answer = await perform(context, resources).catch((error: unknown) =>
    failed(request, error),
  );
  const whole = { ...answer, fields: mergeFields(answer.fields, variance(space), fields) };
  return sealedAnswer(request, whole, seal, space.at.info);
}

/**
 * Performs the method, or answers OPTIONS (RFC 9110 section 9.3.7). If the resource accepts only other methods, the
 * answer is 405 with Allow (section 15.5.6), otherwise 404.
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
  const { missing } = resource;
  const methods = accepted(space, resource.methods);
  if (method === 'OPTIONS')
    return { status: 204, fields: optionsFields(methods, resource.options) };
  checkMethod(method, { methods, missing });
  return resource.perform();
}

/** The fields by which answers vary. If each principal has a tree, the same URL has different content for each. */
function variance({ tree, apiKeyField }: Space): Fields {
  return tree === 'own' ? { Vary: ['Authorization', apiKeyField ?? []].flat() } : {};
}
