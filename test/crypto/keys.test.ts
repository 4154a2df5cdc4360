import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ApiApplicationId, ApplicationId, OrganisationId } from '#domain/values.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { CannotUnseal } from '#infra/crypto/aead.ts'
import { seal, unseal } from '#infra/crypto/seal.ts'
import { generateSecret, hashSecret, makeSecretCheck, TooManyChecks } from '#infra/crypto/secret-hash.ts'
import { isShareTokenOf, shareTokenOf } from '#infra/crypto/share-token.ts'
import { makeTokens, type Grant } from '#infra/crypto/tokens.ts'

const masterKey = randomBytes(32)
const keys = deriveKeys(masterKey.toString('base64'))
const otherKeys = deriveKeys(randomBytes(32).toString('base64'))

test('the same master key gives the same keys, however it is written', () => {
  const written = deriveKeys(masterKey.toString('base64url'))

  expect(written.tokens.private.equals(keys.tokens.private)).toBe(true)
  expect(written.sealing.key.equals(keys.sealing.key)).toBe(true)
  expect([written.tokens.id, written.sealing.id]).toEqual([keys.tokens.id, keys.sealing.id])
  expect(otherKeys.tokens.private.equals(keys.tokens.private)).toBe(false)
})

test('each purpose has a key of its own', () => {
  expect(keys.sealing.key.equals(keys.shareTokens.key)).toBe(false)
  expect(keys.sealing.id).not.toBe(keys.tokens.id)
})

test('a master key of fewer than 32 bytes is refused', () => {
  expect(() => deriveKeys(randomBytes(31).toString('base64'))).toThrow(RangeError)
})

test('keys do not show themselves in a log line', () => {
  expect(JSON.stringify(keys)).not.toMatch(/[A-Za-z0-9+/_-]{20,}/)
})

const place = ['organisation', 'stream', 'signing_secret']
// A character of the middle: those at the end of base64 may have bits that mean nothing.
const tampered = (sealed: string) =>
  sealed.replace(/(.)(.{12})$/, (_, one: string, rest: string) => (one === 'A' ? 'B' : 'A') + rest)

test.each(['a secret', '', 'ünï—cödé 🔐', 'x'.repeat(100_000)])(
  'what is sealed is unsealed for the same place',
  (text) => {
    const sealed = seal(keys, text, place)

    expect(sealed).toMatch(/^[0-9a-f]{8}\.[\w-]+$/)
    expect(unseal(keys, sealed, place)).toBe(text)
  },
)

test('sealing the same secret twice gives nothing away', () => {
  expect(seal(keys, 'a secret', place)).not.toBe(seal(keys, 'a secret', place))
})

test.each([
  ['for another place', (sealed: string) => unseal(keys, sealed, ['other', ...place.slice(1)])],
  ['for a place that reads the same in one piece', (sealed: string) => unseal(keys, sealed, [place.join(',')])],
  ['with another master key', (sealed: string) => unseal(otherKeys, sealed, place)],
  [
    'with another key under our name',
    (sealed: string) => unseal({ sealing: { ...otherKeys.sealing, id: keys.sealing.id } }, sealed, place),
  ],
  ['when tampered with', (sealed: string) => unseal(keys, tampered(sealed), place)],
  ['when cut short', (sealed: string) => unseal(keys, sealed.slice(0, 20), place)],
  ['when it is no sealed value', () => unseal(keys, 'a secret', place)],
])('what is sealed is not unsealed %s', (_how, open) => {
  expect(() => open(seal(keys, 'a secret', place))).toThrow(CannotUnseal)
})

test('a secret is kept as a salted scrypt hash', async () => {
  const [one, other] = await Promise.all([hashSecret('a secret'), hashSecret('a secret')])

  expect(one).toMatch(/^\$scrypt\$ln=14,r=8,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(one).not.toBe(other)
})

test('a secret is checked against its hash, and again from memory', async () => {
  const check = makeSecretCheck()
  const hash = await hashSecret('a secret')

  for (const _time of [1, 2]) {
    expect(await check('a secret', hash)).toBe(true)
    expect(await check('another secret', hash)).toBe(false)
    expect(await check('', hash)).toBe(false)
  }
})

test('a secret followed by U+0000 is another secret', async () => {
  const check = makeSecretCheck()
  const hash = await hashSecret('a secret')

  expect(await check('a secret\0', hash)).toBe(false)
  expect(await check('a secret', hash)).toBe(true)
})

test('what is remembered of a secret belongs to one stored hash', async () => {
  const check = makeSecretCheck()
  const former = await hashSecret('the former secret')
  expect(await check('the former secret', former)).toBe(true)

  expect(await check('the former secret', await hashSecret('the newer secret'))).toBe(false)
})

test('a secret checked before costs next to nothing', async () => {
  const check = makeSecretCheck()
  const hash = await hashSecret('a secret')
  await check('a secret', hash)

  const startedAt = performance.now()
  for (let time = 0; time < 100; time++) await check('a secret', hash)
  expect((performance.now() - startedAt) / 100).toBeLessThan(2)
})

test('a secret that was right before costs next to nothing after ever so many guesses', async () => {
  const check = makeSecretCheck({ atOnce: 1, waiting: 20_000, waitingForOneHash: 20_000 })
  const hash = await hashSecret('a secret')
  await check('a secret', hash)

  // None of them is checked: each is refused, and remembered until it is.
  const guesses = Array.from({ length: 11_000 }, (_, index) => check(`guess ${index}`, 'plain').catch(() => 'refused'))
  await Promise.all(guesses)
  const checked = check('a secret', hash)
  const next = check('another', hash)

  expect(await Promise.race([checked, next])).toBe(true)
  await next
})

test('a stored hash that is none of ours is our fault', async () => {
  const check = makeSecretCheck()
  await expect(check('a secret', 'plain')).rejects.toThrow('not one of ours')
})

/** How each of so many checks that begin at the same moment ends. */
const checkedAtOnce = async (check: ReturnType<typeof makeSecretCheck>, hash: string, secrets: readonly string[]) => {
  const outcomes = await Promise.allSettled(secrets.map(async (secret) => check(secret, hash)))
  return outcomes.map((each) => (each.status === 'fulfilled' ? each.value : (each.reason as unknown)))
}
const wrong = (count: number) => Array.from({ length: count }, (_, index) => `wrong ${index}`)
const tooMany = expect.any(TooManyChecks) as unknown

test('only so many secrets wait to be checked, the others are refused at once and may be sent again', async () => {
  const check = makeSecretCheck({ atOnce: 2, waiting: 3, waitingForOneHash: 3 })
  const hash = await hashSecret('a secret')

  const outcomes = await checkedAtOnce(check, hash, [...wrong(5), 'a secret', 'another'])

  expect(outcomes).toEqual([false, false, false, false, false, tooMany, tooMany])
  expect(await checkedAtOnce(check, hash, ['a secret', 'another'])).toEqual([true, false])
  expect(
    await checkedAtOnce(
      check,
      hash,
      wrong(5).map((each) => `${each} again`),
    ),
  ).not.toContainEqual(tooMany)
})

test('whoever guesses the secret of one application does not keep others waiting without end', async () => {
  const check = makeSecretCheck({ atOnce: 1, waiting: 10, waitingForOneHash: 2 })
  const [attacked, other] = await Promise.all([hashSecret('a secret'), hashSecret('another secret')])
  await check('a secret', attacked)

  const [guesses, owner, others] = await Promise.all([
    checkedAtOnce(check, attacked, wrong(100)),
    check('a secret', attacked),
    checkedAtOnce(check, other, ['another secret', 'wrong']),
  ])

  expect(guesses).toEqual([false, false, false, ...wrong(97).map(() => tooMany)])
  expect([owner, others]).toEqual([true, [true, false]])
})

test('a check that fails gives its place to the next', async () => {
  const check = makeSecretCheck({ atOnce: 1, waiting: 10, waitingForOneHash: 10 })
  await Promise.all([1, 2].map((each) => expect(check(`a secret ${each}`, 'plain')).rejects.toThrow('not one of ours')))

  expect(await check('a secret', await hashSecret('a secret'))).toBe(true)
})

test('generated secrets need no encoding, and do not repeat', () => {
  const secrets = Array.from({ length: 100 }, generateSecret)

  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) expect(encodeURIComponent(secret)).toBe(secret)
})

const application = ApplicationId.parse('7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11')
const another = ApplicationId.parse('1e6f1c52-3c07-4f6a-9c1d-5b0a4a7e2b33')

test('a share token is a key to its application and to no other', () => {
  const token = shareTokenOf(keys, application)

  expect(token).toMatch(/^[\w-]{43}$/)
  expect(isShareTokenOf(keys, application, token)).toBe(true)
  expect(isShareTokenOf(keys, another, token)).toBe(false)
  expect(isShareTokenOf(otherKeys, application, token)).toBe(false)
})

test.each([
  ['none', undefined],
  ['an empty one', ''],
  ['one cut short', shareTokenOf(keys, application).slice(0, -1)],
  ['one with more after it', `${shareTokenOf(keys, application)}A`],
  ['one in upper case', shareTokenOf(keys, application).toUpperCase()],
  [
    'one of the same bytes, written otherwise',
    `${shareTokenOf(keys, application).slice(0, -1)}${String.fromCharCode(shareTokenOf(keys, application).charCodeAt(42) + 1)}`,
  ],
])('a share token that is %s opens nothing', (_what, token) => {
  expect(isShareTokenOf(keys, application, token)).toBe(false)
})

const grant: Grant = {
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  api_application_id: ApiApplicationId.parse('3f1b6f0a-1c55-4e4c-9b1e-2d4a7b1a9f77'),
  epoch: 3,
  scopes: new Set(['read', 'crm']),
  resource: 'https://api.example.com/api/v1',
}
const issuer = 'https://api.example.com'

test('a token says what was granted', async () => {
  const tokens = makeTokens(keys, issuer)
  const { access_token } = await tokens.issue(grant)

  for (const process of [tokens, tokens, makeTokens(keys, issuer)])
    expect(await process.verify(access_token)).toEqual({ outcome: 'genuine', grant })
})

test.each([
  ['another key', makeTokens(otherKeys, issuer)],
  ['another issuer', makeTokens(keys, 'https://other.example.com')],
])('a token of %s is unknown', async (_what, others) => {
  const { access_token } = await others.issue(grant)
  expect(await makeTokens(keys, issuer).verify(access_token)).toEqual({ outcome: 'unknown' })
})

test('a token that was verified before expires all the same', async () => {
  let now = Date.parse('2026-01-15T12:00:00Z')
  const tokens = makeTokens(keys, issuer, () => now)
  const { access_token, created_at, expires_in } = await tokens.issue(grant)
  expect((await tokens.verify(access_token)).outcome).toBe('genuine')

  now = (created_at + expires_in) * 1000 - 1
  expect((await tokens.verify(access_token)).outcome).toBe('genuine')
  now += 1
  expect((await tokens.verify(access_token)).outcome).toBe('expired')
  expect((await makeTokens(keys, issuer, () => now).verify(access_token)).outcome).toBe('expired')
})

test('a token verified before costs microseconds', async () => {
  const tokens = makeTokens(keys, issuer)
  const { access_token } = await tokens.issue(grant)
  await tokens.verify(access_token)

  const startedAt = performance.now()
  for (let time = 0; time < 10_000; time++) await tokens.verify(access_token)
  expect((performance.now() - startedAt) / 10_000).toBeLessThan(0.05)
})
