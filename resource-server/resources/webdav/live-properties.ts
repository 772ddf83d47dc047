import type { Document, Entry, Usage, TreeView } from '#shared/stores/trees/trees.ts';
import { activeLocks, type Asking, LOCK_ENTRIES } from './lock-discovery.ts';
import type { LockSystem } from './lock-system.ts';
import { dav, escapeText } from './xml-writer.ts';

/** The data from which properties of a resource are computed. */
export interface Subject {
  readonly entry: Entry;
  readonly view: TreeView;
  readonly locks: LockSystem;
  readonly quota: Usage;
  readonly asking: Asking;
}

export interface LiveProperty {
  /** Whether DAV:allprop includes it. RFC 4331 section 2 excludes its own properties. */
  readonly inAllprop: boolean;
  /** Returns the markup of the element; undefined if the resource has no such property. */
  read(subject: Subject): string | undefined;
}

/** Markup of an element's content. */
type Content = (subject: Subject) => string | undefined;

const every =
  (content: (entry: Entry) => string | undefined): Content =>
  ({ entry }) =>
    content(entry);

/** A root that was never changed has no dates. */
const known = (time: number, format: (time: Date) => string) =>
  time === 0 ? undefined : format(new Date(time));

const documents =
  (content: (entry: Document) => string): Content =>
  ({ entry }) =>
    entry.kind === 'document' ? escapeText(content(entry)) : undefined;

const collections =
  (content: (subject: Subject) => number): Content =>
  (subject) =>
    subject.entry.kind === 'collection' ? `${content(subject)}` : undefined;

const ROWS: readonly (readonly [name: string, asked: 'allprop' | 'by name', Content])[] = [
  ['creationdate', 'allprop', every(({ created }) => known(created, (time) => time.toISOString()))],
  [
    'getlastmodified',
    'allprop',
    every(({ modified }) => known(modified, (time) => time.toUTCString())),
  ],
  ['resourcetype', 'allprop', every(({ kind }) => (kind === 'document' ? '' : dav('collection')))],
  ['getcontentlength', 'allprop', documents(({ length }) => `${length}`)],
  ['getcontenttype', 'allprop', documents(({ type }) => type)],
  ['getetag', 'allprop', documents(({ etag }) => `"${etag}"`)],
  ['supportedlock', 'allprop', () => LOCK_ENTRIES],
  [
    'lockdiscovery',
    'allprop',
    ({ entry, view, locks, asking }) =>
      activeLocks(locks.covering(view, entry.path), entry, asking),
  ],
  [
    'quota-available-bytes',
    'by name',
    collections(({ quota, view }) => Math.max(quota.bytes - view.usage.bytes, 0)),
  ],
  ['quota-used-bytes', 'by name', collections(({ view }) => view.usage.bytes)],
];

/**
 * The properties of namespace `DAV:` that the server computes (RFC 4918 section 15, RFC 4331). All other properties of
 * that namespace are dead, including DAV:displayname.
 */
export const LIVE_PROPERTIES: ReadonlyMap<string, LiveProperty> = new Map(
  ROWS.map(([name, asked, content]) => {
    const read: LiveProperty['read'] = (subject) => {
      const markup = content(subject);
      return markup === undefined ? undefined : dav(name, markup);
    };
    return [name, { inAllprop: asked === 'allprop', read }];
  }),
);
