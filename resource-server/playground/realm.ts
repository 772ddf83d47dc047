/** The realm of the playground's spaces. */
export const REALM = 'playground';
