import { setTimeout } from './safe-timers.ts';

/** The connection or stream of the client for which work waits. */
export interface Client {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** The caller for whose turn the work waits. */
export interface Turn {
  /** The caller's groups, from the widest to the narrowest. The callers within a group run in rotation. */
  readonly groups: readonly string[];
  /** If this client has disconnected, the work is not done. Absent: the work is done in any case. */
  readonly client?: Client | undefined;
}

/** The turn of work on a line that has only one caller. */
export const ALONE: Turn = { groups: [] };

export interface LineOptions {
  /** The most work that runs at a time. */
  readonly lanes: number;
  /** The most work that may wait. */
  readonly most: number;
  /** Creates the error for work that finds no place. */
  readonly tooMany: () => Error;
  /** Calls `tell` when a caller without a place may get the refusal; default: after a second. */
  readonly hold?: (tell: () => void) => void;
}

/**
 * Milliseconds until a refused caller gets its refusal. Clients of a flood send again at once. Without a delay they
 * would fill the event loop, through which every request passes before it reaches a line.
 */
const HELD = 1000;

interface Job {
  readonly path: readonly Group[];
  readonly start: () => void;
  readonly refuse: () => void;
}

/** The callers of one name, with running or waiting work. */
class Group {
  readonly name: string;
  /** The groups within this group, in the order of their turns. */
  readonly groups = new Map<string, Group>();
  readonly jobs: Job[] = [];
  running = 0;
  waiting = 0;

  constructor(name: string) {
    this.name = name;
  }
}

/**
 * THE rule by which waiting work runs. Work runs at once while a lane is free. Otherwise it waits, and the line
 * serves the groups in rotation. The next group is the one with the least running work, and among equals the one
 * whose turn was longest ago. So no group waits while another group begins twice. The same rule applies to the groups
 * within a group. In the narrowest group the oldest work is next. If too much work waits, the group with the most
 * waiting work loses its newest, whose caller gets a refusal a second later. So a flood displaces itself and slows
 * down, and excludes no later caller.
 */
export class Line {
  readonly #options: LineOptions;
  readonly #hold: (tell: () => void) => void;
  readonly #all = new Group('all');
  #closed = false;

  constructor(options: LineOptions) {
    this.#options = options;
    this.#hold = options.hold ?? ((tell) => void setTimeout(tell, HELD).unref());
  }

  /** The amount of waiting work. */
  get waiting(): number {
    return this.#all.waiting;
  }

  /**
   * Runs work in its turn. Rejects with `tooMany()` if the work finds no place, loses it, or its client has
   * disconnected before it began.
   */
  async run<T>({ groups, client }: Turn, work: () => Promise<T>): Promise<T> {
    const path = this.#pathOf(groups);
    await this.#begin(path, client);
    try {
      return await work();
    } finally {
      for (const group of path) group.running -= 1;
      putBehind(path);
      this.#startNext();
    }
  }

  /** Refuses all waiting work, and all later work. */
  close(): void {
    this.#closed = true;
    while (this.#all.waiting > 0) this.#newest()?.refuse();
  }

  /** Returns the groups with these names, creating them if necessary, the widest first. */
  #pathOf(names: readonly string[]): readonly Group[] {
    const path = [this.#all];
    let group = this.#all;
    for (const name of names) {
      const within = group.groups.get(name) ?? new Group(name);
      group.groups.set(name, within);
      path.push(within);
      group = within;
    }
    return path;
  }

  async #begin(path: readonly Group[], client: Client | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const refuse = () => reject(this.#options.tooMany());
    const job = { path, start: resolve, refuse };
    for (const group of path) group.waiting += 1;
    path.at(-1)?.jobs.push(job);
    const leave = () => {
      take(job);
      refuse();
    };
    if (this.#closed || client?.destroyed) leave();
    this.#startNext();
    if (this.#all.waiting > this.#options.most) {
      const newest = this.#newest();
      if (newest !== undefined) this.#hold(newest.refuse);
    }
    client?.once('close', leave);
    try {
      await promise;
    } finally {
      client?.off('close', leave);
    }
  }

  #startNext(): void {
    while (this.#all.running < this.#options.lanes && this.#all.waiting > 0) {
      let group = this.#all;
      for (let next = nextWithin(group); next; next = nextWithin(group)) group = next;
      const [job] = group.jobs;
      if (job === undefined) return;
      for (const each of job.path) each.running += 1;
      take(job);
      job.start();
    }
  }

  /** Removes the newest job of the group with the most waiting work. */
  #newest(): Job | undefined {
    let group = this.#all;
    for (let most = longestWithin(group); most; most = longestWithin(group)) group = most;
    const job = group.jobs.at(-1);
    return job !== undefined && take(job) ? job : undefined;
  }
}

/** Removes a job. True if the job was waiting. */
function take(job: Job): boolean {
  const { path } = job;
  const jobs = path.at(-1)?.jobs ?? [];
  const place = jobs.indexOf(job);
  if (place === -1) return false;
  jobs.splice(place, 1);
  for (const group of path) group.waiting -= 1;
  forgetIdle(path);
  return true;
}

/** Returns the group whose turn is next. */
function nextWithin({ groups }: Group): Group | undefined {
  let next: Group | undefined;
  for (const group of groups.values()) {
    if (group.waiting > 0 && (next === undefined || group.running < next.running)) next = group;
  }
  return next;
}

/** Returns the group with the most waiting work; among equals the group whose turn comes last. */
function longestWithin({ groups }: Group): Group | undefined {
  let longest: Group | undefined;
  for (const group of groups.values()) {
    if (group.waiting > 0 && group.waiting >= (longest?.waiting ?? 0)) longest = group;
  }
  return longest;
}

/** Puts each group behind the other groups of its parent, after its turn. */
function putBehind(path: readonly Group[]): void {
  for (const [index, { groups }] of path.entries()) {
    const within = path[index + 1];
    if (within === undefined) continue;
    groups.delete(within.name);
    groups.set(within.name, within);
  }
  forgetIdle(path);
}

/** Removes groups without running or waiting work. */
function forgetIdle(path: readonly Group[]): void {
  for (const [index, { groups }] of path.entries()) {
    const within = path[index + 1];
    if (within && within.running + within.waiting === 0) groups.delete(within.name);
  }
}
