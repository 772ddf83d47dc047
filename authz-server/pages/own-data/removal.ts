import type { Context, Middleware } from 'koa';
import type Provider from 'oidc-provider';
import { removeUser } from '#shared/operations/people/user-remove.ts';
import { endAhead } from '#shared/people/access/everything.ts';
import { admittedBy } from '#shared/config/production.ts';
import { administratorNow } from '#shared/people/administrator-now.ts';
import { NoSuchPerson, replacePerson } from '#shared/people/people.ts';
import type { PersonRecord } from '#shared/stores/people/people.ts';
import { asPerson } from '../../base/acting.ts';
import { houseOf } from '../../base/house.ts';
import type { PagesServer } from '../../base/server.ts';
import { listsOf, OVERVIEW } from '../account/lists.ts';
import { createCsrf } from '../frame/csrf.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith, noteDone, noteLate } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import { TO_ACCOUNT } from '../frame/way-back.ts';
import { isRecent } from '../sign-in/recent.ts';
import { createBrowserSessions, type Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import {
  accountRemovedPage,
  removeAccountPage,
  type RemovalProblem,
} from '../views/remove-account.ts';
import { DATA_PATH, FILE_PATH, REMOVAL_PATH } from './data.ts';

/** Nobody else could administer the server. */
class LastAdministrator extends Error {}

/** The page on which people delete their own account. It needs a sign-in of the last five minutes. */
export function removalHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'show' | 'remove', Middleware>> {
  const { stores } = server;
  const { checkForm } = createCsrf(server);
  const { currentVisitor, signOutVisitor } = createBrowserSessions(server, provider);
  const { ask } = createSignIn(server, provider);
  const viewOf = createViewOf(server);

  /** Undefined: the answer asks to sign in. */
  async function leaverOf(ctx: Context): Promise<Visitor | undefined> {
    const visitor = await currentVisitor(ctx);
    if (visitor !== undefined && isRecent(visitor, server)) return visitor;
    if (visitor === undefined) ask(ctx, REMOVAL_PATH);
    else ask(ctx, REMOVAL_PATH, { name: visitor.person.name, notice: 'again-to-remove' });
    return undefined;
  }

  async function showForm(ctx: Context, visitor: Visitor, problem?: RemovalProblem): Promise<void> {
    const view = viewOf(ctx, visitor.person);
    const { applications, more } = await listsOf(server, visitor, OVERVIEW, view.language);
    const page = removeAccountPage(view, {
      action: REMOVAL_PATH,
      person: visitor.person,
      file: FILE_PATH,
      back: DATA_PATH,
      applications: applications.map(({ name }) => name),
      isMore: more.includes('applications'),
      ...(problem && { problem }),
    });
    answerWith(ctx, page);
  }

  /**
   * Disables an administrator who leaves, and ends their tokens, even if the server stops then. False: no other
   * administrator could sign in, so nothing is changed. The check follows the change in one transaction, so of two
   * administrators who leave at the same time one stays.
   */
  async function mayLeave(
    { clock, recorder }: PagesServer,
    { id, name }: Visitor['person'],
  ): Promise<boolean> {
    if ((await stores.people.get(id))?.admin !== true) return true;
    try {
      await stores.together(async (held) => {
        const acting = { clock, stores: held, recorder: recorder.of(held) };
        const disabled = (person: PersonRecord) => ({ ...person, disabled: true });
        await replacePerson(acting, name, disabled, (was) =>
          was.disabled ? undefined : { kind: 'person.disabled' },
        );
        const other = await administratorNow(held, admittedBy(server.config), id);
        if (other === undefined) throw new LastAdministrator();
        await endAhead({ ...server, ...acting }, id);
      });
    } catch (error) {
      if (error instanceof LastAdministrator) return false;
      if (!(error instanceof NoSuchPerson)) throw error;
    }
    return true;
  }

  return {
    async show(ctx) {
      const visitor = await leaverOf(ctx);
      if (visitor) await showForm(ctx, visitor);
    },

    async remove(ctx) {
      const form = await checkForm(ctx);
      const visitor = await leaverOf(ctx);
      if (visitor === undefined) return;
      if (form.get('do') !== 'remove') throw new PageError(400, 'request', { back: TO_ACCOUNT });
      const { id, name } = visitor.person;
      if (form.get('person') !== id) return showForm(ctx, visitor, 'other');
      const acting = asPerson(server, id, ctx);
      if (!(await mayLeave(acting, visitor.person))) return showForm(ctx, visitor, 'last');
      const untold = await removed(acting, name);
      if (untold === undefined) noteLate(ctx);
      noteDone(ctx);
      await signOutVisitor(ctx, visitor);
      answerWith(ctx, accountRemovedPage(viewOf(ctx), { untold: untold ?? [] }));
    },
  };
}

/** Returns the applications that the server could not tell yet. Undefined: another request was faster. */
async function removed(acting: PagesServer, name: string): Promise<readonly string[] | undefined> {
  try {
    return (await removeUser.run({ name, trees: true }, houseOf(acting))).untold ?? [];
  } catch (error) {
    if (error instanceof NoSuchPerson) return undefined;
    throw error;
  }
}
