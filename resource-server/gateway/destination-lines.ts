import { BadRequest, single } from '#shared/http/fields.ts';
import { HttpError } from '#shared/http/answer.ts';
import { type Condition, parseIf } from '#shared/http/if-field.ts';
import { formatEntityTag } from '#shared/http/etag.ts';
import { parsePassedTarget } from '#shared/http/target.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { isWithin } from '../space/within.ts';
import type { Lines } from '../forwarding/fields.ts';
import type { Space } from '../space/spaces.ts';
import type { PathMap } from './paths.ts';

interface Told {
  readonly request: AnyRequest;
  readonly space: Space;
  readonly map: PathMap;
}

/**
 * The error for a Destination on another server (RFC 4918 sections 9.8.5 and 9.9.4). The application was not asked, so
 * this does not count as its failure.
 */
export class DestinationElsewhere extends HttpError {}

/**
 * Maps Destination (RFC 4918 section 10.3) and the tagged lists of If (section 10.4). They name resources by the
 * gateway's URLs, which the application does not know. `theirs`: the application's origin. Throws BadRequest for
 * malformed values, DestinationElsewhere for another server, HttpError 403 for another space.
 */
export function destinationLines({ request, space, map }: Told, theirs: string): Lines {
  const { rawHeaders, headers } = request;
  if (headers['destination'] === undefined && headers['if'] === undefined) return [];
  const written: Lines = [];
  const destination = single(rawHeaders, 'destination');
  if (destination !== undefined) {
    const path = mapped(destination);
    if (path === 'elsewhere') {
      throw new DestinationElsewhere(502, 'Nothing is copied or moved to another server.');
    }
    if (path === 'another space') {
      throw new HttpError(403, 'Nothing is copied or moved to another space.');
    }
    written.push(['Destination', theirs + path]);
  }
  const conditions = single(rawHeaders, 'if');
  if (conditions !== undefined) written.push(['If', ofTheirs(conditions)]);
  return written;

  function mapped(reference: string): string {
    const target = parsePassedTarget(reference);
    if (target === undefined || target.form === 'asterisk' || reference.includes('#')) {
      throw new BadRequest('Destination or If has a reference that is malformed.');
    }
    if (target.form === 'absolute') {
      const { origin } = new URL(reference);
      if (origin !== space.origin && origin !== addressed()) return 'elsewhere';
    }
    return isWithin(space, reference, target) ? map.onward(reference) : 'another space';
  }

  /** The origin of the request's target. A Destination at this origin is on this server, too. */
  function addressed(): string | undefined {
    const { protocol } = new URL(space.origin);
    const { ':authority': authority, host } = request.headers;
    return URL.parse(`${protocol}//${String(authority ?? host)}`)?.origin;
  }

  function ofTheirs(value: string): string {
    const lists = parseIf(value);
    if (lists === undefined) {
      throw new BadRequest(
        'If is not a sequence of lists (RFC 4918 section 10.4.2), or has more than 256 conditions.',
      );
    }
    return lists
      .map(({ resource, conditions: each }) => {
        const path = resource === undefined ? undefined : mapped(resource);
        const known = path?.startsWith('/') ? theirs + path : resource;
        const tag = known === undefined ? '' : `<${known}> `;
        return `${tag}(${each.map(text).join(' ')})`;
      })
      .join(' ');
  }
}

function text(condition: Condition): string {
  const not = condition.not ? 'Not ' : '';
  return 'token' in condition
    ? `${not}<${condition.token}>`
    : `${not}[${formatEntityTag(condition.etag)}]`;
}
