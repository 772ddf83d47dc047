import { HttpError } from '#shared/http/answer.ts';
import { davError } from '../webdav/dav-error.ts';

/** The error for content that is too long (RFC 9110 section 15.5.14). */
export function contentTooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `A document has at most ${maxBytes} bytes.`);
}

/** The error when the quota of a tree is used up (RFC 4331 section 6). */
export function quotaExceeded(): HttpError {
  return davError(507, 'quota-not-exceeded', 'The quota of this tree leaves no room for it.');
}

/** The error when the disk is full (RFC 4331 section 6). */
export function diskFull(): HttpError {
  return davError(507, 'sufficient-disk-space', 'The disk of the server is full.');
}

/** The content of a document is not what its row says. The message is for operators. */
export class DamagedContent extends Error {
  override readonly name = 'DamagedContent';
}

/** Status 500 (RFC 9110 section 15.6.1): repeating the request does not help, but another PUT replaces the content. */
export function damagedContent(): HttpError {
  return new HttpError(
    500,
    'The content of this document is damaged. Write it again, or ask the operator to restore it.',
  );
}
