/** How the paths of a space and those of its application stand for one another. */
export class PathMap {
  /** Segments of the space's path. */
  readonly #depth: number;
  /** Both without the slash at the end, so that `/` is empty. */
  readonly #ours: string;
  readonly #theirs: string;
  /** The application's own path as it is configured, with or without a slash at the end. */
  readonly #root: string;

  /** The prefix before the application's paths at this server, as the application is told; empty: none. */
  readonly prefix: string;

  /** Paths as `URL.pathname` has them; `tells`: the application may be told. */
  constructor(ours: string, theirs: string, tells: boolean) {
    this.#ours = ours.replace(/\/$/, '');
    this.#theirs = theirs.replace(/\/$/, '');
    this.#root = theirs;
    this.#depth = this.#ours.split('/').length - 1;
    this.prefix = tells && this.#theirs === '' ? this.#ours : '';
  }

  /** Whether a path is the same at both. */
  get same(): boolean {
    return this.#ours === this.#theirs;
  }

  /** Path and query of a target in the space, as the application gets them: what is below the space as it came. */
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
   * Turns a path of the application into the path at this server. Returns undefined if it is outside of the space. A
   * path that begins with the told prefix stays as it is.
   */
  back(path: string): string | undefined {
    const [, before = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(path) ?? [];
    if (this.prefix !== '' && `${before}/`.startsWith(`${this.prefix}/`)) return path;
    if (before === this.#theirs) return this.#ours === '' ? `/${rest}` : this.#ours + rest;
    if (!before.startsWith(`${this.#theirs}/`)) return undefined;
    return this.#ours + before.slice(this.#theirs.length) + rest;
  }

  /** Where a cookie for one of the application's paths belongs (RFC 6265 section 5.1.4). */
  cookiePath(path: string): string {
    const within = this.back(path);
    if (within !== undefined) return within;
    // A cookie for more than the application is for all of it, and for nothing else here.
    const above = path.endsWith('/') ? path : `${path}/`;
    return `${this.#theirs}/`.startsWith(above) ? `${this.#ours}/` : path;
  }
}
