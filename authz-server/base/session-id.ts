import { createHash } from 'node:crypto';

/**
 * Returns the `sid` by which a client knows the session of a browser (OpenID Connect Back-Channel Logout 1.0 section
 * 2.1). `uid`: of the sign-in in that browser. Each client has another `sid`, so that clients cannot compare them.
 */
export const sessionId = (uid: string, clientId: string): string =>
  createHash('sha256').update(`${uid} ${clientId}`).digest('base64url').slice(0, 22);
