import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import type { Express, Request, Response } from 'express';

/** The registration of an application. */
export interface Registered {
  readonly issuer: string;
  readonly id: string;
  readonly secret: string;
  /** The origin of the application. */
  readonly origin: string;
}

/** The path to which all applications get their codes. */
export const CALLBACK_PATH = '/callback';
export const SCOPE = 'openid profile email groups';

/** Makes the application: at `/` people sign in, and it shows what it knows about them as JSON. */
export type MakeApp = (registered: Registered) => Promise<Express>;

/** A browser's session between two visits. */
export type Session = Record<string, unknown>;

const COOKIE = 'app-session';

/** An Express application with `request.session`, stored in memory. */
export function appWithSessions(): Express {
  const sessions = new Map<string, Session>();
  const app = express();
  app.use((request, response, next) => {
    const [, known = ''] =
      new RegExp(`${COOKIE}=([\\w-]+)`).exec(request.headers.cookie ?? '') ?? [];
    const id = sessions.has(known) ? known : randomUUID();
    const session = sessions.get(id) ?? {};
    sessions.set(id, session);
    response.cookie(COOKIE, id, { httpOnly: true, sameSite: 'lax' });
    Object.assign(request, { session });
    next();
  });
  return app;
}

export const sessionOf = (request: Request): Session =>
  (request as Request & { readonly session: Session }).session;

/** Shows the claims on a page. */
export const show = (response: Response, claims: Readonly<Record<string, unknown>>): void => {
  const { sub, name, preferred_username, email, email_verified, groups, locale, acr, amr } = claims;
  const person = { sub, name, preferred_username, email, email_verified, groups, locale };
  response.json({ ...person, acr, amr });
};

/** Listens on the port of its origin. */
export async function listening(app: Express, origin: string): Promise<Disposable> {
  const server = app.listen(Number(new URL(origin).port), '127.0.0.1');
  await once(server, 'listening');
  return {
    [Symbol.dispose]() {
      server.close();
      server.closeAllConnections();
    },
  };
}
