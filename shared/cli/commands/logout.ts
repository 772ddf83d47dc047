import type { Command } from '../arguments/command.ts';
import { sendUnhurried } from '../oauth/http.ts';
import { loginPath, readLogin, removeLogin } from '../oauth/login-file.ts';
import { revokeLogin } from '../oauth/revoke-login.ts';
import { lockPrivate } from '../files/private-file.ts';

const NOBODY = { json: null, lines: ['Nobody is logged in.'] };

export const logout: Command = {
  name: 'logout',
  summary: 'end the login: revoke its tokens and delete its file',
  details: [
    'If the authorization server does not answer, the file is deleted all the same, and the exit code is 1.',
  ],
  run: async (_, shell) => {
    const path = loginPath(shell.env);
    if (path === undefined || (await readLogin(path)) === undefined) return NOBODY;
    return lockPrivate(path, shell, async () => {
      const login = await readLogin(path);
      if (login === undefined) return NOBODY;
      const { issuer } = login;
      const error = await revokeLogin(sendUnhurried, login).then(
        () => undefined,
        ({ message }: Error) => message,
      );
      await removeLogin(path);
      return {
        json: { issuer, revoked: error === undefined, ...(error !== undefined && { error }) },
        lines:
          error === undefined
            ? [`Logged out of ${issuer}.`]
            : [
                `The login is deleted here, but not ended at ${issuer}: ${error}.`,
                'End it on your account page there.',
              ],
        failed: error !== undefined,
      };
    });
  },
};
