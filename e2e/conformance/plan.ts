/** A module of the OpenID Foundation's conformance suite, as a suite of this folder performs it. */
interface Module {
  /** The demand on the authorization server, in one sentence. */
  readonly demands: string;
  /**
   * `skipped`: the suite lets servers skip the module. `warning`: the suite passes the module, and warns. Both need
   * `why`.
   */
  readonly outcome: 'passed' | 'skipped' | 'warning';
  /** Why the module is skipped, or why the warning stays. */
  readonly why?: string;
}

/** A plan of the conformance suite: the modules of one certification. */
export interface Plan {
  /** The public name, with which the suite finds the plan. */
  readonly name: string;
  readonly title: string;
  /** The variant of the plan that is performed, by the suite's parameters. */
  readonly variant: Readonly<Record<string, string>>;
  /** The modules in the order of the plan, by their public names. */
  readonly modules: Readonly<Record<string, Module>>;
}

/** Returns a module that passes. */
export const passed = (demands: string) => ({ demands, outcome: 'passed' }) as const;

/** Returns a module that the suite lets servers skip. */
export const skipped = (demands: string, why: string) =>
  ({ demands, outcome: 'skipped', why }) as const;

/** Returns a module that passes with a warning. */
export const warning = (demands: string, why: string) =>
  ({ demands, outcome: 'warning', why }) as const;

/** The names of the modules that are performed. */
type Performed<P extends Plan> = {
  [Name in keyof P['modules']]: P['modules'][Name]['outcome'] extends 'skipped' ? never : Name;
}[keyof P['modules']];

/**
 * How each module of a plan is performed, by its name. A module rejects if the server does not do what the module
 * demands. A module with a warning also checks that the reason of the warning is still there.
 */
export type Steps<P extends Plan> = Readonly<Record<Performed<P> & string, () => Promise<void>>>;
