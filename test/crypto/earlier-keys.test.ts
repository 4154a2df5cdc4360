import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ApiApplicationId, ApplicationId, OrganisationId } from '#domain/values.ts'
import { CannotUnseal } from '#infra/crypto/aead.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { seal, sealedUnder, unseal } from '#infra/crypto/seal.ts'
import { isShareTokenOf, shareTokenOf } from '#infra/crypto/share-token.ts'
import { makeTokens, type Grant } from '#infra/crypto/tokens.ts'

const former = randomBytes(32).toString('base64')
const present = randomBytes(32).toString('base64')

const before = deriveKeys(former)
const after = deriveKeys(present, [randomBytes(32).toString('base64'), former])
const withoutFormer = deriveKeys(present)

const place = ['organisation', 'stream', 'signing_secret']
const application = ApplicationId.parse('7b0c1f4e-9d7d-4f0e-8f43-0c2d0b0f6a11')
const issuer = 'https://api.example.com'
const grant: Grant = {
  organisation_id: OrganisationId.parse('6f6c9e0a-3c1b-4d5e-8f70-1a2b3c4d5e6f'),
  api_application_id: ApiApplicationId.parse('3f1b6f0a-1c55-4e4c-9b1e-2d4a7b1a9f77'),
  epoch: 3,
  scopes: new Set(['read']),
  resource: 'https://api.example.com/api/v1',
}

test('a secret sealed under an earlier master key is opened, and only while that key is kept', () => {
  const sealed = seal(before, 'a secret', place)

  expect(unseal(after, sealed, place)).toBe('a secret')
  expect(() => unseal(withoutFormer, sealed, place)).toThrow(CannotUnseal)
  expect(() => unseal(withoutFormer, sealed, place)).toThrow('MASTER_KEYS_EARLIER')
})

test('a new secret is sealed under the present master key', () => {
  const sealed = seal(after, 'a secret', place)

  expect(sealedUnder(sealed)).toBe(withoutFormer.sealing.id)
  expect(unseal(withoutFormer, sealed, place)).toBe('a secret')
})

test('a share token made under an earlier master key is recognised, and only while that key is kept', () => {
  const token = shareTokenOf(before, application)

  expect(isShareTokenOf(after, application, token)).toBe(true)
  expect(isShareTokenOf(withoutFormer, application, token)).toBe(false)
})

test('a new share token is made with the present master key', () => {
  expect(isShareTokenOf(withoutFormer, application, shareTokenOf(after, application))).toBe(true)
})

test('an access token signed under an earlier master key is genuine, and only while that key is kept', async () => {
  const { access_token } = await makeTokens(before, issuer).issue(grant)

  expect(await makeTokens(after, issuer).verify(access_token)).toEqual({ outcome: 'genuine', grant })
  expect(await makeTokens(withoutFormer, issuer).verify(access_token)).toEqual({ outcome: 'unknown' })
})

test('a new access token is signed with the present master key', async () => {
  const { access_token } = await makeTokens(after, issuer).issue(grant)

  expect((await makeTokens(withoutFormer, issuer).verify(access_token)).outcome).toBe('genuine')
})
