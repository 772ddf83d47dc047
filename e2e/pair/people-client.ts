import type { Pair } from './pair.ts';

/** The redirect URI of clients without a server. No process listens there. */
export const CALLBACK = 'https://app.example/callback';
export const AFTER_LOGOUT = 'https://app.example/bye';

const withRefresh = (grant: string) => ['--grant', grant, '--grant', 'refresh_token'];
const REDIRECTS = ['--redirect-uri', CALLBACK, '--post-logout-redirect-uri', AFTER_LOGOUT];
export const CODE_GRANTS = withRefresh('authorization_code');
export const CODE_FLOW = [...CODE_GRANTS, ...REDIRECTS];
export const DEVICE_FLOW = withRefresh('device_code');

/** All scopes that a client may request from a person. */
export const SCOPE = 'openid profile offline_access documents:read documents:write';

/** Registers a client with these options of `client add`, which may request every scope. */
export async function addPeopleClient(
  pair: Pair,
  ...options: readonly string[]
): Promise<{ id: string; secret: string }> {
  const args = ['--name', 'Test app', '--scope', SCOPE, ...options];
  const { client_id, client_secret } = await pair.cli('client', 'add', ...args);
  return { id: String(client_id), secret: String(client_secret) };
}
