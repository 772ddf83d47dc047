import { createRequire } from 'node:module';
import type { NextFunction, Request, Response } from 'express';
import { decodeJwt } from 'jose';
import { appWithSessions, CALLBACK_PATH, type MakeApp, sessionOf, show } from './app.ts';

/** Passport's callbacks, by which a strategy reports the outcome of a request. */
interface Strategy {
  authenticate(request: Request): void;
  redirect: (url: string) => void;
  success: (claims: object) => void;
  fail: (reason: unknown) => void;
  error: (error: Error) => void;
}

interface Profile {
  readonly displayName?: string;
  readonly username?: string;
  readonly emails?: readonly { readonly value: string }[];
  /** The answer of userinfo, which only a function with nine parameters gets. */
  readonly _json: { readonly email_verified?: boolean };
}

type Verify = (
  issuer: string,
  profile: Profile,
  profileOfIdToken: object,
  context: object,
  idToken: string,
  accessToken: string,
  refreshToken: string,
  parameters: object,
  verified: (error: null, claims: object) => void,
) => void;

const { Strategy } = createRequire(import.meta.url)('passport-openidconnect') as {
  readonly Strategy: new (options: object, verify: Verify) => Strategy;
};

/**
 * An application on passport-openidconnect. The library's profile has no groups, so they are read from the
 * ID token.
 */
export const passportApp: MakeApp = async ({ issuer, id, secret, origin }) => {
  const strategy = new Strategy(
    {
      issuer,
      authorizationURL: `${issuer}/auth`,
      tokenURL: `${issuer}/token`,
      userInfoURL: `${issuer}/userinfo`,
      clientID: id,
      clientSecret: secret,
      callbackURL: origin + CALLBACK_PATH,
      scope: 'profile email groups',
      nonce: true,
      skipUserProfile: false,
    },
    // eslint-disable-next-line max-params -- it counts them
    (_issuer, profile, _other, _context, idToken, _access, _refresh, _parameters, verified) => {
      const { displayName: name, username: preferred_username, emails, _json } = profile;
      const { email_verified } = _json;
      const told = { name, preferred_username, email: emails?.[0]?.value, email_verified };
      verified(null, { ...decodeJwt(idToken), ...told });
    },
  );

  /** Does what passport does, which is not installed here. */
  function authenticate(request: Request, response: Response, next: NextFunction): void {
    const one = Object.create(strategy) as Strategy;
    one.redirect = (url) => response.redirect(url);
    one.success = (claims) => {
      sessionOf(request)['claims'] = claims;
      response.redirect('/');
    };
    one.fail = (reason) => next(reason);
    one.error = next;
    one.authenticate(request);
  }

  const app = appWithSessions();
  app.get('/', (request, response, next) => {
    const { claims } = sessionOf(request);
    if (claims) show(response, claims as Record<string, unknown>);
    else authenticate(request, response, next);
  });
  app.get(CALLBACK_PATH, authenticate);
  return app;
};
