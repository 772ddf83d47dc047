/** Members of a private or symmetric key (RFC 7518 sections 6.2.2, 6.3.2, 6.4.1, RFC 8037 section 2). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** True if a JWK has members of a private or symmetric key. */
export const holdsPrivateKey = (jwk: object): boolean => PRIVATE.some((member) => member in jwk);
