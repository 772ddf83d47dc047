import express from 'express';
import { CALLBACK_PATH, type MakeApp, SCOPE, show } from './app.ts';

/** express-openid-connect, set up for the code flow and for logout tokens as its documentation says. */
export const expressOpenidConnectApp: MakeApp = async ({ issuer, id, secret, origin }) => {
  // Imported late, after openid-client, which it requires: in one graph jest sees a cycle.
  const { auth } = await import('express-openid-connect');
  const app = express();
  /** Whose sessions have ended. */
  const ended = new Map<string, never>();
  app.use(
    auth({
      issuerBaseURL: issuer,
      baseURL: origin,
      clientID: id,
      clientSecret: secret,
      secret: 'that of its cookies, which is long enough',
      routes: { callback: CALLBACK_PATH },
      authorizationParams: { response_type: 'code', scope: SCOPE },
      authRequired: true,
      backchannelLogout: {
        store: {
          get: (session, found) => found(null, ended.get(session)),
          set: (session, payload, done) => {
            ended.set(session, payload as never);
            done?.(null);
          },
          destroy: (session, done) => {
            ended.delete(session);
            done?.(null);
          },
        },
      },
    }),
  );
  app.get('/', async (request, response) => {
    show(response, { ...request.oidc.user, ...(await request.oidc.fetchUserInfo()) });
  });
  return app;
};
