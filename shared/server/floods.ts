import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import type { Clock } from '#shared/clock.ts';
import { Bucket } from './bucket.ts';
import type { ServerLimits } from './server-limits.ts';

/**
 * Ends a connection of HTTP/2 with ENHANCE_YOUR_CALM (RFC 9113 section 10.5) whose client resets
 * streams, makes us reset them, or sends PING or SETTINGS without measure. What never becomes a
 * stream, or has no effect, is counted by nghttp2: malformed fields, empty DATA, CONTINUATION, PRIORITY.
 */
export function endFloods(session: Http2Session, limit: ServerLimits, clock: Clock): void {
  const resets = new Bucket(limit.resets, clock);
  const controls = new Bucket(limit.controls, clock);
  const reason = new Error('resets, pings or settings without measure');
  const calm = () => session.destroy(reason, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const control = () => {
    if (!controls.take()) calm();
  };
  session.on('ping', control).on('remoteSettings', control);
  session.on('stream', (stream: ServerHttp2Stream) => {
    stream.once('close', () => {
      const reset = stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR;
      if (reset && !resets.take()) calm();
    });
  });
}
