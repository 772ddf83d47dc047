import { howOf } from '#shared/people/access/assurance.ts';
import { listConsents } from '#shared/people/access/consents.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { type ListedSignIn, listSignIns, type SignIn } from '#shared/people/access/sign-ins.ts';
import type { PagesServer } from '../../base/server.ts';
import type {
  AccountApplication,
  AccountGroup,
  AccountLists,
  AccountSignIn,
} from '../frame/account-view.ts';
import { meansOf } from '../frame/sign-in-means.ts';
import type { Language } from '../frame/view.ts';
import type { Visitor } from '../sign-in/session.ts';
import { applicationsOf } from './applications.ts';

/** The number of entries of a group on the overview. */
const FEW = 5;
/** The number of sign-ins, or of grants, on a page of one group. */
const PAGE = 50;

/** The group of entries that the URL asks for, and the page of it. Without a group it is the overview. */
export interface Asked {
  readonly group?: AccountGroup;
  readonly page: number;
}

/** The overview: the first entries of each group. */
export const OVERVIEW: Asked = { page: 1 };

/**
 * Reads from the query which group and page to show: the overview, or the first page, if the query has no valid value.
 */
export function askedIn(querystring: string): Asked {
  const query = new URLSearchParams(querystring);
  const group = query.get('show');
  const page = query.get('page') ?? '';
  return {
    ...((group === 'sign-ins' || group === 'applications') && { group }),
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

/** Lists the sign-ins and applications of a visitor: the first few of both groups, or a page of one group. */
export async function listsOf(
  server: PagesServer,
  visitor: Visitor,
  asked: Asked,
  language: Language,
): Promise<AccountLists> {
  const { artefacts } = server.stores;
  const { id } = visitor.person;
  const kind = asked.group === 'applications' ? 'Access' : 'SignIn';
  const all = asked.group === undefined ? 0 : await artefacts.countByAccount(kind, id);
  const pages = Math.max(1, Math.ceil(all / PAGE));
  const page = Math.min(asked.page, pages);
  const slice = { skip: (page - 1) * PAGE, count: PAGE };
  const [signIns, applications] = await Promise.all([
    asked.group === 'applications' ? [] : listSignIns(server, id, slice),
    asked.group === 'sign-ins' ? [] : applicationsOn(),
  ]);

  async function applicationsOn() {
    const [accesses, consents] = await Promise.all([
      listAccess(server, id, slice),
      page === 1 ? listConsents(server, id) : [],
    ]);
    return applicationsOf(server, accesses, consents, language);
  }

  const entries = thisFirst(signIns, visitor).map((signIn) => entryOf(signIn, visitor));
  if (asked.group !== undefined) {
    return {
      signIns: entries,
      applications,
      more: [],
      shown: { group: asked.group, page, pages },
    };
  }
  const more: AccountGroup[] = [
    ...(entries.length > FEW ? (['sign-ins'] as const) : []),
    ...(applications.length > FEW || applications.some(hasMany) ? (['applications'] as const) : []),
  ];
  return {
    signIns: entries.slice(0, FEW),
    applications: applications.slice(0, FEW).map(withFew),
    more,
  };
}

const hasMany = ({ accesses }: AccountApplication) => accesses.length > FEW;

const withFew = (application: AccountApplication): AccountApplication =>
  hasMany(application)
    ? Object.assign(application, {
        accesses: application.accesses.slice(0, FEW),
        hidden: application.accesses.length - FEW,
      })
    : application;

function thisFirst<One extends SignIn>(
  signIns: readonly One[],
  { signIn: { uid } }: Visitor,
): readonly One[] {
  const isThis = (one: SignIn) => one.uid === uid;
  return [...signIns.filter(isThis), ...signIns.filter((one) => !isThis(one))];
}

const entryOf = (
  { uid, since, lastSeen, address, agent, assurance }: ListedSignIn,
  { signIn }: Visitor,
): AccountSignIn =>
  Object.assign(
    { id: uid, since, current: uid === signIn.uid, by: meansOf(howOf(assurance)) ?? 'password' },
    lastSeen !== undefined && { lastSeen },
    address !== undefined && { address },
    agent !== undefined && { agent },
  );
