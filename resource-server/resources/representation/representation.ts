import { type Random, randomId } from '#shared/base/random.ts';
import { multipartRanges, type Ranged } from './multipart-ranges.ts';
import type { Services } from '../place.ts';
import { evaluate, preconditionFailed, type Validators } from './preconditions.ts';
import { contentRange, lengthOf, type Range, rangesAsked } from './range.ts';
import type { ResourceContext } from '../resource.ts';

type ResponseFields = Readonly<Record<string, string>>;

/** What is sent of a resource (RFC 9110 section 3.2), with its validators. */
export interface Representation extends Validators, Ranged {
  /** Further fields, of 304 as well; they win over `GUARDED`. */
  readonly fields?: ResponseFields;
}

/** Validators of a representation (RFC 9110 section 8.8). */
export function validators({ etag, modified }: Validators): ResponseFields {
  return {
    ETag: `"${etag}"`,
    ...(modified !== undefined && { 'Last-Modified': new Date(modified).toUTCString() }),
  };
}

/**
 * What goes with every representation. Content comes from clients: no browser may guess its type or
 * run it with the rights of this origin. Caches ask again each time, because access can be revoked.
 */
export const GUARDED: ResponseFields = {
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': 'sandbox',
  'X-Content-Type-Options': 'nosniff',
};

/**
 * Answers 200 with the representation, 206 with the parts asked for, or 304, in the order of RFC 9110
 * section 13.2.2. Throws `HttpError` 412 and 416. Resolves to false when the content is gone: nothing
 * is answered yet.
 */
export async function represent(
  context: ResourceContext,
  representation: Representation,
  { clock, random }: Pick<Services, 'clock' | 'random'>,
): Promise<boolean> {
  const { req: request, method } = context;
  const now = clock.now();
  const verdict = evaluate(request, representation, now);
  if (verdict === 412) throw preconditionFailed();
  const common = { ...validators(representation), ...GUARDED, ...representation.fields };
  if (verdict === 304) {
    context.status = 304;
    context.set(common);
    return true;
  }

  const selected =
    method === 'HEAD'
      ? { status: 200, fields: contentFields(representation), body: null }
      : await select(representation, rangesAsked(request, representation), random);
  const { status, fields, body } = selected;
  if (body === undefined) return false;
  context.body = body;
  context.status = status;
  context.set({ ...common, 'Accept-Ranges': 'bytes', ...fields });
  return true;
}

/** The parts, or all of it if there are none. */
async function select(representation: Representation, ranges: readonly Range[], random: Random) {
  const [range, ...others] = ranges;
  if (range === undefined) {
    const body = await representation.content();
    return { status: 200, fields: contentFields(representation), body };
  }
  if (others.length > 0) {
    const parts = multipartRanges(representation, ranges, randomId(random));
    return { status: 206, fields: contentFields(parts), body: await parts.content() };
  }
  const { type, length } = representation;
  const fields = {
    ...contentFields({ type, length: lengthOf(range) }),
    'Content-Range': contentRange(range, length),
  };
  return { status: 206, fields, body: await representation.content(range) };
}

function contentFields({ type, length }: Pick<Representation, 'type' | 'length'>): ResponseFields {
  return { 'Content-Type': type, 'Content-Length': `${length}` };
}
