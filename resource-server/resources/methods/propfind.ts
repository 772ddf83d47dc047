import { setImmediate } from 'node:timers/promises';
import { HttpError, notFound } from '#shared/http/answer.ts';
import type { Collection, Entry } from '#shared/stores/trees/trees.ts';
import { davError, XML_TYPE } from '../webdav/dav-error.ts';
import { type Depth, depthOf } from '../webdav/depth.ts';
import { expectedState } from '../place/expected-state.ts';
import { type MemberResponse, multiStatus, sameStatuses } from '../webdav/multi-status.ts';
import { madeOf } from '../place/made.ts';
import { hrefOf } from '../resource/path.ts';
import type { MethodFactory } from '../place/place.ts';
import { propertyQuestion } from '../webdav/propfind-element.ts';
import type { ResourceStore } from '../content/resource-store.ts';
import { readXml } from '../webdav/xml.ts';

/** The most resources that Depth: infinity lists. */
const MOST = 5000;
/** How many rows are read at a time; each may have many dead properties. */
const PAGE = 50;

/**
 * PROPFIND (RFC 4918 section 9.1). Clients repeat it often. So the answer about a collection without locks is reused
 * while the tree is unchanged.
 */
export const propfind: MethodFactory = (services) => async (context, place) => {
  const { locks, clock, made } = services;
  const { store, tree, path, slash, principal } = place;
  const { request, space } = context;
  const depth = depthOf(request) ?? 'infinity';
  const expected = expectedState(context, place, services);
  const question = propertyQuestion(await readXml(request, place.holder));
  await context.judgeAgain();

  // The version is read before the view. So an answer stored under the version is right for it, and no older than the
  // request.
  const version = await store.version();
  const view = await store.look([path, ...expected.paths]);
  const target = view.entries.get(path);
  if (target === undefined || (slash && target.kind === 'document')) throw notFound();
  expected.check(view, []);
  /**
   * The answer must depend on the tree alone. Locks expire, and conditions refer to a moment, so neither may be
   * involved.
   */
  const isMade =
    target.kind === 'collection' &&
    depth !== '0' &&
    view.locks.length === 0 &&
    expected.paths.length === 0;
  const what = ['propfind', tree, hrefOf(space, target), depth, question.key];
  const before = isMade ? made.find(what, version) : undefined;
  if (before !== undefined) return sameStatuses(before.content);
  if (depth === 'infinity') await checkFinite(pagesOf(store, target, depth));

  const asking = { space, principal, now: clock.now() };
  const respond = (entry: Entry): MemberResponse => ({
    href: hrefOf(space, entry),
    propstats: question.answer({ entry, view, locks, quota: store.quota, asking }),
  });
  const pages = mapped(pagesOf(store, target, depth), respond);
  if (!isMade) return multiStatus(pages);
  return multiStatus(pages, async (whole) => {
    // An outage of the store at this point does not concern the answer, which is complete.
    if ((await store.version().catch(() => undefined)) !== version) return;
    made.keep(what, version, madeOf({ type: XML_TYPE, content: Buffer.from(whole) }));
  });
};

async function* mapped<T>(
  pages: AsyncIterable<readonly Entry[]>,
  map: (entry: Entry) => T,
): AsyncGenerator<readonly T[]> {
  for await (const page of pages) yield page.map(map);
}

async function checkFinite(pages: AsyncIterable<readonly Entry[]>): Promise<void> {
  let resources = 0;
  for await (const page of pages) {
    resources += page.length;
    if (resources > MOST) {
      const detail = `Ask with Depth: 1: these are more than ${MOST} resources.`;
      throw davError(403, 'propfind-finite-depth', detail);
    }
  }
}

/**
 * Yields a resource and everything below it down to the depth, each collection before its members.
 * SQLite reads a page synchronously, so other requests are served between two pages. Pages are read by the collection's
 * id, since its path may lead elsewhere by then. Throws `HttpError` 503 if the collection was removed, since a part of
 * its members would look complete.
 */
async function* pagesOf(
  store: ResourceStore,
  target: Entry,
  depth: Depth,
): AsyncGenerator<readonly Entry[]> {
  yield [target];
  const collections: Collection[] = target.kind === 'collection' && depth !== '0' ? [target] : [];
  // The list grows during the loop.
  for (const collection of collections) {
    let page: readonly Entry[] | undefined;
    let after = '';
    do {
      page = await store.members(collection, after, PAGE);
      if (page === undefined) {
        throw new HttpError(503, 'Other requests are changing the same resource. Try again.', {
          'Retry-After': '1',
        });
      }
      yield page;
      await setImmediate();
      after = nameOf(page.at(-1));
      if (depth === 'infinity') {
        collections.push(...page.filter((one) => one.kind === 'collection'));
      }
    } while (page.length === PAGE);
  }
}

function nameOf(entry: Entry | undefined): string {
  return entry?.path.slice(entry.path.lastIndexOf('/') + 1) ?? '';
}
