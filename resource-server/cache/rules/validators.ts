import { type EntityTag, parseEntityTag } from '#shared/http/etag.ts';
import type { Lines } from '../../forwarding/fields.ts';
import { onlyOf } from './lines.ts';

/** The validators of a representation (RFC 9110 section 8.8). */
export interface Validators {
  readonly etag: EntityTag | undefined;
  /** Last-Modified as it came, since it is compared and sent again verbatim. */
  readonly modified: string | undefined;
}

export function validatorsOf(lines: Lines): Validators {
  return {
    etag: parseEntityTag(onlyOf(lines, 'etag') ?? ''),
    modified: onlyOf(lines, 'last-modified'),
  };
}
