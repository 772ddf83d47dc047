import type { AuthRequest } from '#shared/auth/scheme.ts';
import { isOfOrigin } from '#shared/auth/judge/of-origin.ts';
import { cookieName, setCookie } from '#shared/auth/schemes/session/cookie.ts';
import { shownSecret } from '#shared/auth/schemes/session/session.ts';
import type { Sessions } from '#shared/auth/schemes/session/sessions.ts';
import { SIGN_OUT_PATH, type SignInSpace } from '#shared/config/sign-in-clients.ts';
import { type Answer, HttpError } from '#shared/http/answer.ts';
import { endGrant } from '#shared/people/access/grants.ts';
import type { AccessStore } from '#shared/people/access/access-store.ts';
import type { Pages } from './pages.ts';
import { noArrivals } from './sign-in.ts';

interface SignOutParts {
  readonly access: AccessStore;
  readonly sessions: Sessions;
  readonly pages: Pages;
}

/** Ends the sessions of a browser at an origin, together with their grants. `spaces`: those of the origin. */
export function createSignOut({ access, sessions, pages }: SignOutParts) {
  async function openAt(spaces: readonly SignInSpace[], request: AuthRequest) {
    const shown = spaces.flatMap((space) => shownSecret(space, request) ?? []);
    const found = await Promise.all(
      shown.map(async (secret) => ({ secret, session: await sessions.find(secret) })),
    );
    return found.flatMap(({ secret, session }) => (session ? [{ secret, session }] : []));
  }

  return {
    /** Asks for confirmation first, and confirms the sign-out afterwards. */
    async ask(spaces: readonly SignInSpace[], request: AuthRequest): Promise<Answer> {
      const to = { language: request.lines('accept-language')[0] };
      const open = await openAt(spaces, request);
      return open.length > 0
        ? pages.signOut(to)
        : pages.signedOut(to, new URL(spaces[0]?.url ?? '/').pathname);
    },

    async signOut(spaces: readonly SignInSpace[], request: AuthRequest): Promise<Answer> {
      if (!isOfOrigin(request)) {
        throw new HttpError(403, 'Only a page of this origin may ask for signing out.');
      }
      for (const { secret, session } of await openAt(spaces, request)) {
        await endGrant(access, session.grantId);
        await sessions.remove(secret);
      }
      const gone = spaces.flatMap((space) => [
        setCookie(space.url, cookieName(space.url, 'session'), '', 0),
        noArrivals(space),
      ]);
      return {
        status: 303,
        fields: { Location: SIGN_OUT_PATH, 'Set-Cookie': gone, 'Cache-Control': 'no-store' },
      };
    },
  };
}
