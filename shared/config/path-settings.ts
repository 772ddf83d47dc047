import type { ServerName } from './server-name.ts';

/** The kind of file or folder that a path of the configuration must lead to before a server starts. */
export type Holds = 'folder' | 'file' | 'certificate' | 'key';

/** A setting that is a path. */
export interface PathSetting {
  /** Its members, from the outermost to the path itself. */
  readonly members: readonly string[];
  readonly holds: Holds;
  /** The server that opens it; absent: both do. */
  readonly openedBy?: ServerName;
}

/** Every setting of the configuration that is a path. In the file they are relative to its folder. */
export const PATH_SETTINGS: readonly PathSetting[] = [
  { members: ['data'], holds: 'folder' },
  { members: ['brand', 'logo'], holds: 'file' },
  { members: ['mail', 'ca'], holds: 'file', openedBy: 'authz' },
  { members: ['mail', 'passwordFile'], holds: 'file', openedBy: 'authz' },
  { members: ['negotiate', 'keytab'], holds: 'file', openedBy: 'resource' },
  { members: ['privateTokens', 'certificate'], holds: 'certificate', openedBy: 'authz' },
  { members: ['privateTokens', 'key'], holds: 'key', openedBy: 'authz' },
  { members: ['proxy', 'mutual', 'certificate'], holds: 'certificate', openedBy: 'resource' },
  { members: ['proxy', 'tls', 'certificate'], holds: 'certificate', openedBy: 'resource' },
  { members: ['proxy', 'tls', 'key'], holds: 'key', openedBy: 'resource' },
  { members: ['store', 'ca'], holds: 'certificate' },
  { members: ['tls', 'certificate'], holds: 'certificate', openedBy: 'resource' },
  { members: ['tls', 'key'], holds: 'key', openedBy: 'resource' },
];

/** The settings of each space that are a path. Their members begin within the space. */
const SPACE_PATH_SETTINGS: readonly PathSetting[] = [
  { members: ['mutual', 'certificate'], holds: 'certificate', openedBy: 'resource' },
  { members: ['upstream', 'tls', 'ca'], holds: 'certificate', openedBy: 'resource' },
];

/** The settings of each source that are a path. Their members begin within the source. */
const SOURCE_PATH_SETTINGS: readonly PathSetting[] = [
  { members: ['provider', 'clientSecretFile'], holds: 'file', openedBy: 'authz' },
];

/** The settings of the elements of lists that are a path, by the list. */
export const LISTED_PATH_SETTINGS = {
  spaces: SPACE_PATH_SETTINGS,
  sources: SOURCE_PATH_SETTINGS,
} as const;

/** The member of `object` that these names lead to, one within the other; undefined: there is none. */
export function memberAt(object: unknown, members: readonly string[]): unknown {
  return members.reduce<unknown>(
    (holder, name) =>
      typeof holder === 'object' && holder !== null ? Reflect.get(holder, name) : undefined,
    object,
  );
}
