import { type Random, randomId } from '#shared/base/random.ts';
import type { Document } from '#shared/stores/trees/trees.ts';
import type { Space } from '../../space/spaces.ts';
import { urlOf } from '../resource/path.ts';
import type { Made } from '../place/made.ts';
import { multipartRanges, type Ranged } from '../../answers/multipart-ranges.ts';
import type { Services } from '../place/place.ts';
import {
  evaluateConditions,
  preconditionFailed,
  type Validators,
} from '../../answers/preconditions.ts';
import { contentRange, lengthOf, type Range, rangesAsked } from '../../answers/range.ts';
import { inPieces, type ResourceAnswer } from '../../answers/pieces.ts';
import type { ResourceContext } from '../resource/resource.ts';

type ResponseFields = Readonly<Record<string, string>>;

/** A representation of a resource (RFC 9110 section 3.2), with its validators. */
export interface Representation extends Validators, Ranged {
  /** Further fields, also sent with 304. They override `GUARDED`. */
  readonly fields?: ResponseFields;
}

/** `modified`: the modification date of the source. */
export function representationOf({
  content,
  ...made
}: Made & Pick<Representation, 'modified'>): Representation {
  const all = { first: 0, last: content.length - 1 };
  return {
    ...made,
    length: content.length,
    content: async ({ first, last } = all) => content.subarray(first, last + 1),
  };
}

/** The validator fields of a representation (RFC 9110 section 8.8). */
export function validators({ etag, modified }: Validators): ResponseFields {
  return {
    ETag: `"${etag}"`,
    ...(modified !== undefined && { 'Last-Modified': new Date(modified).toUTCString() }),
  };
}

/** Answers 201 with Location for a new document (RFC 9110 section 15.3.2), else 204. */
export function written(space: Space, document: Document, created: boolean): ResourceAnswer {
  const location = created && { Location: urlOf(space, document) };
  return { status: created ? 201 : 204, fields: { ...location, ...validators(document) } };
}

/**
 * Fields of every representation. Clients supply the content, so browsers must not guess its type or run it with the
 * rights of this origin. Caches revalidate each time, because access can be revoked.
 */
export const GUARDED = {
  'Cache-Control': 'private, no-cache',
  'Content-Security-Policy': 'sandbox',
  'X-Content-Type-Options': 'nosniff',
} satisfies ResponseFields;

/** The content, or the collection, was removed after its row was read. */
export class ContentGone extends Error {
  override readonly name = 'ContentGone';
}

/**
 * Answers 200 with the representation, 206 with the requested parts, or 304, in the order of RFC 9110 section
 * 13.2.2. Throws `HttpError` 412 and 416, and `ContentGone`.
 */
export async function represent(
  { request }: Pick<ResourceContext, 'request'>,
  representation: Representation,
  { clock, random }: Pick<Services, 'clock' | 'random'>,
): Promise<ResourceAnswer> {
  const now = clock.now();
  const verdict = evaluateConditions(request, representation, now);
  if (verdict === 412) throw preconditionFailed();
  if (verdict === 304) return { status: 304, fields: commonFields(representation) };

  const whole = wholeFields(representation);
  if (request.method === 'HEAD') {
    await demandContent(representation);
    return { status: 200, fields: whole };
  }
  const selected = await select(representation, rangesAsked(request, representation), random);
  const { status, fields, body } = selected;
  if (body === undefined) throw new ContentGone();
  return { status, fields: fields ? { ...whole, ...fields } : whole, body };
}

/** Throws as GET would, since HEAD must answer as GET does (RFC 9110 section 9.3.2). */
async function demandContent({ content }: Representation): Promise<void> {
  const found = await content();
  if (found === undefined) throw new ContentGone();
  if (inPieces(found)) await found[Symbol.asyncDispose]();
}

/** Fields that are also sent with 304. */
function commonFields(representation: Omit<Representation, 'content'>): ResponseFields {
  return { ...validators(representation), ...GUARDED, ...representation.fields };
}

/** Fields of a complete representation. */
export function wholeFields(representation: Omit<Representation, 'content'>): ResponseFields {
  const common = commonFields(representation);
  return { ...common, 'Accept-Ranges': 'bytes', ...contentFields(representation) };
}

/** Selects the requested parts, or the whole without ranges. */
async function select(representation: Representation, ranges: readonly Range[], random: Random) {
  const [range, ...others] = ranges;
  if (range === undefined) {
    const body = await representation.content();
    return { status: 200, fields: undefined, body };
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
