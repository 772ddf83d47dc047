/** Maps the paths of a space to those of its application, and back. */
export class PathMap {
  /** The number of segments of the space's path. */
  readonly #depth: number;
  /** Both paths without the slash at the end, so `/` is empty. */
  readonly #ours: string;
  readonly #theirs: string;
  /** The application's configured path, with or without a slash at the end. */
  readonly #root: string;

  /** The prefix before the application's paths at this server, which the application gets. Empty: no prefix. */
  readonly prefix: string;

  /** Paths as in `URL.pathname`. `tells`: whether the application gets the prefix. */
  constructor(ours: string, theirs: string, tells: boolean) {
    this.#ours = ours.replace(/\/$/, '');
    this.#theirs = theirs.replace(/\/$/, '');
    this.#root = theirs;
    this.#depth = this.#ours.split('/').length - 1;
    this.prefix = tells && this.#theirs === '' ? this.#ours : '';
  }

  /** Whether both paths are equal. */
  get same(): boolean {
    return this.#ours === this.#theirs;
  }

  /** Path and query of a target in the space, as the application gets them. The part below the space is unchanged. */
  onward(target: string): string {
    const relative = target.startsWith('/') ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, '');
    const mark = relative.indexOf('?');
    const path = mark === -1 ? relative : relative.slice(0, mark);
    const query = mark === -1 ? '' : relative.slice(mark);
    let at = 0;
    for (let depth = this.#depth; depth > 0 && at !== -1; depth -= 1)
      at = path.indexOf('/', at + 1);
    const below = at === -1 ? '' : path.slice(at);
    return `${below === '' ? this.#root : this.#theirs + below}${query}`;
  }

  /**
   * Maps a path of the application to the path at this server. Returns undefined if the path is outside of the space. A
   * path that begins with the prefix stays unchanged, if the application gets the prefix.
   */
  back(path: string): string | undefined {
    const [, before = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
    if (this.prefix !== '' && `${before}/`.startsWith(`${this.prefix}/`)) return path;
    if (before === this.#theirs) return this.#ours === '' ? `/${rest}` : this.#ours + rest;
    if (!before.startsWith(`${this.#theirs}/`)) return undefined;
    return this.#ours + before.slice(this.#theirs.length) + rest;
  }

  /** Maps the path of an application's cookie (RFC 6265 section 5.1.4). */
  cookiePath(path: string): string {
    const within = this.back(path);
    if (within !== undefined) return within;
    // A cookie for more than the application is limited to the space.
    const above = path.endsWith('/') ? path : `${path}/`;
    return `${this.#theirs}/`.startsWith(above) ? `${this.#ours}/` : path;
  }
}
