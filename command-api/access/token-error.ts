type TokenErrorCode =
  'invalid_client' | 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'unsupported_grant_type'

/** The reason why no token was issued, as an OAuth 2.0 code. The description says what to do. */
export class TokenError extends Error {
  override readonly name = 'TokenError'
  readonly code: TokenErrorCode

  constructor(code: TokenErrorCode, description: string) {
    super(description)
    this.code = code
  }
}
