import { type Fields, HttpError } from '#shared/http/answer.ts';
import { ownTree, sharedTree } from '#shared/stores/trees/tree-names.ts';
import type { Entry } from '#shared/stores/trees/trees.ts';
import { accountOf, ANONYMOUS, holderOf } from '../space/account.ts';
import { kindOf, METHODS_OF } from './place/kinds.ts';
import { copy, move } from './methods/copy-move.ts';
import { remove } from './methods/delete.ts';
import { get } from './methods/get.ts';
import { lock, unlock } from './methods/lock.ts';
import { mkcol } from './methods/mkcol.ts';
import { ACCEPT_PATCH, patch } from './methods/patch.ts';
import { post } from './methods/post.ts';
import { propfind } from './methods/propfind.ts';
import { proppatch } from './methods/proppatch.ts';
import { put } from './methods/put.ts';
import { ACCEPT_QUERY, getKept, query } from './methods/query.ts';
import { pathWithin } from './resource/path.ts';
import type { MethodFactory, Place, Services } from './place/place.ts';
import { keptAt } from './query/kept.ts';
import type { ResourceContext, ServedResources } from './resource/resource.ts';
import type { ResourceStore } from './content/resource-store.ts';
import type { JudgeAgain } from '../exchange/under-way.ts';

const FACTORIES: Readonly<Record<string, MethodFactory>> = {
  GET: get,
  HEAD: get,
  PUT: put,
  POST: post,
  PATCH: patch,
  DELETE: remove,
  QUERY: query,
  PROPFIND: propfind,
  PROPPATCH: proppatch,
  MKCOL: mkcol,
  COPY: copy,
  MOVE: move,
  LOCK: lock,
  UNLOCK: unlock,
};

export interface Documents extends Services {
  /**
   * Opens the tree of this name for a holder (space/account.ts). The name is never used as a file path. `judgeAgain`
   * runs before each change.
   */
  tree(name: string, holder: string, judgeAgain?: JudgeAgain): Promise<ResourceStore>;
}

/** Serves documents and collections on disk: one tree for all, or one for each principal. */
export function documents(services: Documents): ServedResources {
  const methods = new Map(
    Object.entries(FACTORIES).map(([name, factory]) => [name, factory(services)]),
  );
  const kept = getKept(services);

  async function placeOf({
    space,
    target,
    principal,
    address,
    judgeAgain,
  }: ResourceContext): Promise<Place> {
    const whose = accountOf(principal);
    if (space.tree === 'own' && whose === ANONYMOUS) {
      throw new HttpError(403, 'Each account has its own documents here. Send credentials.');
    }
    const tree =
      space.tree === 'shared' ? sharedTree(space.segments) : ownTree(space.segments, whose);
    const holder = holderOf(principal, address);
    const store = await services.tree(tree, holder, judgeAgain);
    const path = pathWithin({ space, target });
    const slash = target.trailingSlash;
    const found = await store.get(path);
    return {
      store,
      path,
      slash,
      entry: slash && found?.kind === 'document' ? undefined : found,
      principal: whose,
      holder,
      tree,
    };
  }

  return {
    possible(target, space) {
      // The root always exists.
      if (pathWithin({ space, target }) === '') return METHODS_OF.root;
      return target.trailingSlash ? METHODS_OF.possibleCollection : METHODS_OF.possible;
    },
    async find(context) {
      const place = await placeOf(context);
      const missing = place.entry === undefined;
      checkSlash(context, place);
      if (keptAt(context.target)) {
        return {
          missing,
          methods: METHODS_OF.kept,
          options: {},
          perform: () => kept(context, place),
        };
      }
      const accepted = METHODS_OF[kindOf(place)];
      return {
        missing,
        methods: accepted,
        options: optionsOf(accepted, place.entry),
        perform() {
          const method = methods.get(context.request.method ?? '');
          if (method === undefined) throw new Error('a method that is not among those accepted');
          return method(context, place);
        },
      };
    },
  };
}

/** The methods that create a document at a missing path. */
const MAKE_DOCUMENTS: ReadonlySet<string> = new Set(
  METHODS_OF.missing.filter((method) => method !== 'MKCOL'),
);

/** Throws HttpError 404 with advice for a client that would create a document at the URL of a collection. */
function checkSlash({ request: { method = '' } }: ResourceContext, { entry, slash }: Place): void {
  if (entry !== undefined || !slash || !MAKE_DOCUMENTS.has(method)) return;
  const detail = `The URL of a document has no slash at its end. Send ${method} without it, or make a collection with MKCOL.`;
  throw new HttpError(404, detail);
}

function optionsOf(accepted: readonly string[], entry: Entry | undefined): Fields {
  return {
    ...(accepted.includes('QUERY') && { 'Accept-Query': ACCEPT_QUERY }),
    ...(accepted.includes('PATCH') && { 'Accept-Patch': ACCEPT_PATCH }),
    ...(entry?.kind === 'document' && { 'Accept-Ranges': 'bytes' }),
  };
}
