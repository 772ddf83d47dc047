import * as z from 'zod';
import { TOKEN_TYPES } from '#shared/private-token/token-types.ts';

const NAMES = Object.values(TOKEN_TYPES).map(({ name }) => name);

/** The name of a type of PrivateToken. */
export const tokenTypeName = z.enum(NAMES).describe(NAMES.join(' or '));
