import { lines } from '#shared/http/fields.ts';
import type { AnyRequest } from '#shared/server/message/message.ts';
import {
  framingLines,
  framingOf,
  type Lines,
  onwardLines,
  takesTrailers,
} from '../forwarding/fields.ts';
import type { ProxyTarget } from './target.ts';

/**
 * Returns the field lines to forward with a request. `pseudonym` is this proxy's name in Via (RFC 9110 section
 * 7.6.3). Throws BadRequest if Connection names an end-to-end field.
 */
export function requestLines(request: AnyRequest, target: ProxyTarget, pseudonym: string): Lines {
  const { method, rawHeaders } = request;
  const framing = framingOf(request);
  const onward = onwardLines(request, pseudonym, ({ vouched }) => vouched);
  const written: Lines = [['Host', target.authority], ...onward, ...framingLines(framing, method)];
  const [trailer] = lines(rawHeaders, 'trailer');
  if (framing === 'chunked' && trailer !== undefined) written.push(['Trailer', trailer]);
  const trailers = takesTrailers(request);
  if (trailers) written.push(['TE', 'trailers']);
  written.push(['Connection', trailers ? 'close, TE' : 'close']);
  return written;
}
