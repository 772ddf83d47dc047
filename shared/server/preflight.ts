import type { IncomingMessage } from 'node:http';

/** A CORS preflight (Fetch Standard). OPTIONS alone is none, and has to authenticate. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
