import { CLI } from '#shared/base/invocation.ts';
import { type Command, Failure, type Shell } from '../arguments/command.ts';
import { moment } from '#shared/base/moment.ts';
import { currentLogin, endedLogin } from '../oauth/current-login.ts';
import { loadProver } from '../oauth/dpop.ts';
import { jsonObject, sendUnhurried } from '../oauth/http.ts';
import { type Login, signInOf } from '../oauth/login.ts';
import { sendWithToken } from '../oauth/protected-request.ts';
import { findServer } from '../oauth/server-metadata.ts';
import { columns } from '#shared/base/printable.ts';

export const whoami: Command = {
  name: 'whoami',
  summary: 'show the current login: person, server, client, scopes, sign-in and expiry',
  details: [
    'The command asks the authorization server, so it notices if the server has revoked the login.',
  ],
  run: async (_, shell) => {
    const login = await currentLogin(sendUnhurried, shell);
    if (login === undefined) throw new Failure(`nobody is logged in: run ${CLI} login`);
    const { issuer, client_id, scope, resource, expires_at: end, refresh_token } = login;
    const { sub, name } = await askWho(login, shell);
    const { acr, amr, auth_time } = signInOf(login.access_token);
    const renewed = refresh_token === undefined ? '' : ', then renewed';
    return {
      json: { issuer, sub, name, client_id, scope, resource, acr, amr, auth_time, expires_at: end },
      lines: columns([
        ['person', name ?? sub ?? 'unknown: the login lacks the scopes openid and profile'],
        ['issuer', issuer],
        ['client', client_id],
        ['scope', scope],
        ...(resource === undefined ? [] : [['resource', resource]]),
        ...(acr === undefined ? [] : [['signed in by', acr]]),
        ...(amr === undefined ? [] : [['methods', amr.join(' ')]]),
        ...(auth_time === undefined ? [] : [['signed in at', moment(auth_time, shell.clock)]]),
        ...(end === undefined ? [] : [['token until', new Date(end).toISOString() + renewed]]),
      ]),
    };
  },
};

/**
 * Requests the UserInfo endpoint (OpenID Connect Core 1.0 section 5.3), which refuses a login without the scope
 * `openid` (403).
 */
async function askWho(
  login: Login,
  { clock, random }: Shell,
): Promise<{ readonly sub?: string; readonly name?: string }> {
  const url = (await findServer(sendUnhurried, login.issuer)).endpoint('userinfo_endpoint');
  const access = {
    accessToken: login.access_token,
    prover: await loadProver(login.private_jwk, clock, random),
    resource: url,
  };
  const answer = await sendWithToken(sendUnhurried, { method: 'GET', url }, access);
  if (answer.status === 401) throw endedLogin(login);
  if (answer.status === 403) return {};
  if (answer.status !== 200) throw new Failure(`${url} answers ${answer.status}`);
  const { sub, preferred_username: name } = jsonObject(answer, url);
  return {
    ...(typeof sub === 'string' && { sub }),
    ...(typeof name === 'string' && { name }),
  };
}
