import type Provider from 'oidc-provider';
import type { Context, Middleware } from 'koa';
import { InputError, type Operation, perform } from '#shared/operations/operation.ts';
import { fromTexts, secretsOf, type Texts } from '#shared/operations/texts.ts';
import { asPerson } from '../../base/acting.ts';
import { houseOf } from '../../base/house.ts';
import type { PagesServer } from '../../base/server.ts';
import type { AdminField, AdminOperationProps } from '../frame/admin-view.ts';
import { createCsrf } from '../frame/csrf.ts';
import { PageError } from '../frame/page-error.ts';
import { answerWith } from '../frame/respond.ts';
import { createViewOf } from '../frame/view-of.ts';
import type { Visitor } from '../sign-in/session.ts';
import { createSignIn } from '../sign-in/sign-in.ts';
import { textsOf } from '../texts/index.ts';
import { adminHomePage, adminSearchPage } from '../views/admin-home.ts';
import { adminOperationPage } from '../views/admin-operation.ts';
import { groupOf, operationAt, pageOf } from './addresses.ts';
import { ADMIN_PATH, type Admitted, createAdmission } from './admission.ts';
import { type Asked, asking, problemIn } from './asked.ts';
import {
  type ClientKindName,
  formOfKind,
  linesOfKind,
  linksToKinds,
  takeKind,
} from './client-kinds.ts';
import { linksFrom, titleOf } from './links.ts';
import { fieldsOf, repeatedIn, textsIn, withoutSecrets } from './members.ts';
import { navigation, SEARCH_PATH } from './navigation.ts';
import { overview } from './notices.ts';
import { inParts } from './parts.ts';
import { createOnce } from './once.ts';
import { ownView } from './own-views.ts';
import { recentEvents } from './recent-events.ts';
import { foundBy, itemsFound, shownFound } from './search.ts';
import { refusal, type Wrong } from './refusal.ts';
import { createTell, itemOf } from './tell.ts';
import { toldBy } from './told.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Config } from '#shared/config/schema.ts';
import { scopesOfSpaces } from '#shared/operations/clients/client-scopes.ts';
import type { Language } from '#shared/pages/language.ts';
import { prefersHtml } from '#shared/pages/prefers-html.ts';

/** The parts of an operation's page besides its form. */
type Shown = Pick<AdminOperationProps, 'told' | 'problem' | 'status' | 'sections'> & {
  readonly isDone?: true;
  readonly links?: AdminOperationProps['links'];
  readonly wrong?: Wrong;
  readonly lines?: string;
};

/** The page of an operation, and what it was asked with. */
interface Page {
  readonly operation: Operation;
  readonly texts: Texts;
  readonly asked: Asked;
  /** The kind of a new client. */
  readonly kind?: ClientKindName | undefined;
}

/** The pages of administrators: each operation has one, of which its rules know nothing. */
export function adminHandlers(
  server: PagesServer,
  provider: Provider,
): Readonly<Record<'home' | 'search' | 'show' | 'change', Middleware>> {
  const { checkForm } = createCsrf(server);
  const { ask } = createSignIn(server, provider);
  const admission = createAdmission(server, provider);
  const once = createOnce(server);
  const viewOf = createViewOf(server);
  const tell = createTell(houseOf(server));

  const askAgain = (ctx: Context, { person }: Visitor, goOn: string) =>
    ask(ctx, goOn, { name: person.name, notice: 'admin' });

  /** Undefined: the answer is given. `goOn`: where an administrator goes on after another sign-in. */
  async function admitted(ctx: Context, goOn: string): Promise<Visitor | undefined> {
    const known = await admission(ctx);
    if (known === undefined || known.isEnough) return known?.visitor;
    askAgain(ctx, known.visitor, goOn);
    return undefined;
  }

  function answer(
    ctx: Context,
    visitor: Visitor,
    { operation, texts, asked, kind }: Page,
    { wrong, links = [], isDone, ...shown }: Shown,
  ): void {
    const view = viewOf(ctx, visitor.person);
    const { language } = view;
    const { effect } = operation;
    const action = pageOf(operation);
    const { part, done = textsOf(language).admin.done, ...about } = asked;
    const isFixed = (name: string) => part !== undefined || Object.hasOwn(asked.hidden ?? {}, name);
    const fields = fieldsOf(operation, texts, language, wrong).filter(({ name }) => !isFixed(name));
    const all = withKnownScopes(fields, operation, server.config, language);
    const form: Pick<AdminOperationProps, 'fields' | 'parts' | 'hidden'> =
      kind === undefined
        ? inParts(operation.name, asked.status === undefined ? all : [], language)
        : formOfKind(kind, all, server.config);
    const isChoice = operation.name === 'client add' && kind === undefined && texts.size === 0;
    // No field is there to say it.
    const isSaid =
      !isFixed(wrong?.path[0] ?? '') && form.hidden?.[wrong?.path[0] ?? ''] === undefined;
    const problem = wrong && !isSaid ? problemIn(wrong) : undefined;
    const page = adminOperationPage(view, {
      ...about,
      nav: navigation(language, operation),
      home: ADMIN_PATH,
      action,
      effect,
      ...form,
      ...(isChoice && { kinds: linksToKinds(language) }),
      ...(effect === 'changes' && { once: once.mark(action, visitor.person.id) }),
      links,
      ...(problem && { problem }),
      ...shown,
      ...(isDone && { done }),
      ...(isDone && about.submit !== undefined && { title: about.submit }),
      ...(kind && {
        title: textsOf(language).admin.kinds[kind].title,
        submit: textsOf(language).admin.kindsOf.submit,
      }),
    });
    answerWith(ctx, page);
  }

  /** Looks up whom a page is about, before anything is done. */
  const pageIn = async (
    ctx: Context,
    operation: Operation,
    texts: Texts,
    kind?: ClientKindName,
  ): Promise<Page> => ({
    operation,
    texts,
    kind,
    asked: await asking(operation, texts, tell, viewOf(ctx).language),
  });

  /** An operation that reads shows its result as soon as the query says enough. */
  async function read(
    ctx: Context,
    visitor: Visitor,
    operation: Operation,
    query: URLSearchParams,
  ): Promise<void> {
    const texts = textsIn(operation, query);
    const page = await pageIn(ctx, operation, texts);
    if (texts.size === 0 && !isReady(operation)) return answer(ctx, visitor, page, {});
    try {
      const told = await perform(operation, fromTexts(operation.input, texts), houseOf(server));
      const { language } = viewOf(ctx);
      const links = linksFrom(operation, told, language, page.asked.subject?.name);
      const shown = toldBy(operation, told, language, query);
      const own = await ownView(operation.name, { told, shown }, tell, language);
      answer(ctx, visitor, page, { told: shown, links, ...own });
    } catch (error) {
      answer(ctx, visitor, page, refusal(operation, error, viewOf(ctx).language));
    }
  }

  async function submit(
    ctx: Context,
    visitor: Visitor,
    operation: Operation,
    { texts, mark, kind }: Pick<Page, 'texts' | 'kind'> & { readonly mark: string },
  ): Promise<void> {
    const page = await pageIn(ctx, operation, texts, kind);
    if (page.asked.status !== undefined) return answer(ctx, visitor, page, {});
    if (!(await once.claim(mark, pageOf(operation), visitor.person.id))) {
      return answer(ctx, visitor, page, { problem: { kind: 'sent' }, status: 409 });
    }
    const house = houseOf(asPerson(server, visitor.person.id, ctx));
    try {
      const told = await perform(operation, fromTexts(operation.input, texts), house);
      const { language } = viewOf(ctx);
      const whose = page.asked.subject?.name ?? texts.get('client_name')?.[0];
      const links = linksFrom(operation, told, language, whose);
      answer(ctx, visitor, page, {
        told: toldBy(operation, told, language),
        isDone: true,
        links,
        ...(kind && { lines: linesOfKind(kind, itemOf(told), texts, server.config) }),
      });
    } catch (error) {
      answer(ctx, visitor, page, refusal(operation, error, viewOf(ctx).language));
    }
  }

  return {
    async home(ctx) {
      const visitor = await admitted(ctx, ADMIN_PATH);
      if (visitor === undefined) return;
      const view = viewOf(ctx, visitor.person);
      const { language } = view;
      const page = adminHomePage(view, {
        nav: navigation(language),
        name: visitor.person.name,
        ...(await overview(tell, server.clock.now(), language)),
        recent: await recentEvents({}, 5, tell, language),
        links: USUAL.map((name) => ({
          href: pageOf({ name }),
          text: titleOf({ name }, language),
        })),
      });
      answerWith(ctx, page);
    },

    /** The script of the page asks for JSON, a form for a page. */
    async search(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      const text = (query.get('q') ?? '').trim();
      const goOn = new URLSearchParams({ q: text });
      const visitor = await admitted(ctx, `${SEARCH_PATH}?${goOn.toString()}`);
      if (visitor === undefined) return;
      const view = viewOf(ctx, visitor.person);
      const { language } = view;
      const found = await foundBy(text, tell);
      if (prefersHtml(ctx.get('Accept'))) {
        const nav = navigation(language, undefined, text);
        return answerWith(
          ctx,
          adminSearchPage(view, { nav, sections: shownFound(found, language) }),
        );
      }
      ctx.set('Cache-Control', 'no-store');
      ctx.body = itemsFound(found, language);
    },

    async show(ctx) {
      const query = new URLSearchParams(ctx.querystring);
      const asked = operationAt(ctx['params'].operation);
      const goOn = asked ? pageOf(asked, withoutSecrets(asked, query)) : ADMIN_PATH;
      const visitor = await admitted(ctx, goOn);
      if (visitor === undefined) return;
      const operation = operationIn(ctx);
      const secret = [...secretsOf(operation.input)].find((name) => query.has(name));
      if (secret !== undefined) {
        const wrong = new InputError([secret], said('secret-in-address'));
        const { language } = viewOf(ctx, visitor.person);
        const texts = textsIn(operation, withoutSecrets(operation, query));
        return answer(
          ctx,
          visitor,
          await pageIn(ctx, operation, texts),
          refusal(operation, wrong, language),
        );
      }
      if (operation.effect === 'reads') return read(ctx, visitor, operation, query);
      const kind = takeKind(operation, query);
      answer(ctx, visitor, await pageIn(ctx, operation, textsIn(operation, query), kind), {});
    },

    async change(ctx) {
      if ((await admission(ctx)) === undefined) return;
      const operation = operationIn(ctx);
      if (operation.effect === 'reads') {
        ctx.set('Allow', 'GET, HEAD, OPTIONS');
        throw new PageError(405, 'not-found');
      }
      const form = await checkForm(ctx, new Set([...repeatedIn(operation), 'scope']));
      // It may come so slowly that its sender has lost the right meanwhile.
      const known: Admitted | undefined = await admission(ctx);
      if (known === undefined) return;
      const mark = form.get('once') ?? '';
      for (const ours of ['csrf', 'once']) form.delete(ours);
      if (!known.isEnough) {
        return askAgain(ctx, known.visitor, pageOf(operation, withoutSecrets(operation, form)));
      }
      const kind = takeKind(operation, form);
      const texts = textsIn(operation, form);
      await submit(ctx, known.visitor, operation, { texts, mark, kind });
    },
  };
}

/** The actions that the first page offers. */
const USUAL = ['user invite', 'client add'] as const;

/** Throws `PageError` 404 if there is no operation at the address. */
function operationIn(ctx: Context): Operation {
  const operation = operationAt(ctx['params'].operation);
  if (operation === undefined) throw new PageError(404, 'not-found');
  return operation;
}

/** Whether an operation can be done without anything given. */
const isReady = ({ input }: Operation) => input.safeParse({}).success;

/** Returns the fields of a form; that of a client's scopes says which ones the spaces ask for. */
function withKnownScopes(
  fields: readonly AdminField[],
  operation: Operation,
  config: Config,
  language: Language,
): readonly AdminField[] {
  if (groupOf(operation) !== 'client') return fields;
  const hint = textsOf(language).admin.scopes(scopesOfSpaces(config).join(' '));
  return fields.map((field) =>
    field.name === 'scope' ? Object.assign({}, field, { hint }) : field,
  );
}
