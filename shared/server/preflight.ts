import type { AnyRequest } from './message.ts';

/** A CORS preflight (Fetch Standard). OPTIONS alone is none, and has to authenticate. */
export function isPreflight({ method, headers }: AnyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}
