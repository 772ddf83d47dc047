import { METHODS } from '#shared/http/methods.ts';
import { FIELDS_TOO_LARGE, TARGET_TOO_LONG } from './client-error.ts';
import { sectionSize } from './header-section.ts';
import type { AnyRequest } from '../message/message.ts';
import type { ConnectionError } from '../message/connection-error.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

const TOO_MANY_FIELDS: ConnectionError = {
  status: 431,
  detail: 'The header section has too many fields. Send fewer.',
};
const NEEDLESS_CONTENT: ConnectionError = {
  status: 413,
  detail: 'This method takes no content. Send the request without it.',
};

/** Returns why a request is too large for any handler; undefined if it is not. */
export function excess(request: AnyRequest, limit: ServerLimits): ConnectionError | undefined {
  if ((request.url ?? '').length > limit.targetBytes) return TARGET_TOO_LONG;
  if (request.rawHeaders.length / 2 > limit.fields) return TOO_MANY_FIELDS; // RFC 6585 section 5
  // Over HTTP/1.1 the parser checks the size. nghttp2 checks it once the client has acknowledged the limit.
  const large =
    request.httpVersionMajor === 2 && sectionSize(request.rawHeaders) > limit.headerBytes;
  if (large) return FIELDS_TOO_LARGE;
  const announced = Number(request.headers['content-length'] ?? 0);
  const tooMuch = isNeedless(request) && announced > limit.needlessBytes;
  return tooMuch ? NEEDLESS_CONTENT : undefined; // RFC 9110 section 15.5.14
}

/** Returns how many octets of content are discarded if the handler has not read them by the end of the answer. */
export function leftover(request: AnyRequest, limit: ServerLimits): number {
  return isNeedless(request) ? limit.needlessBytes : limit.leftoverBytes;
}

/** Whether content of this request would have no meaning (RFC 9110 section 9.3.1). */
function isNeedless({ method = '' }: AnyRequest): boolean {
  return METHODS.get(method)?.body === 'none';
}
