import manifest from '../../package.json' with { type: 'json' };

/** The version of this software, as its package says it. */
export const VERSION: string = manifest.version;
