import type { Login } from './login.ts';

/** A login whose token expires a minute after the start of a `ManualClock`. The key is of RFC 7515 appendix A.3. */
export const LOGIN: Login = {
  issuer: 'https://auth.example',
  client_id: 'demo-device',
  scope: 'documents:read',
  resource: 'https://api.example/documents/',
  access_token: 'at',
  expires_at: 1_800_000_060_000,
  refresh_token: 'rt',
  private_jwk: {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
    d: 'jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI',
  },
};
