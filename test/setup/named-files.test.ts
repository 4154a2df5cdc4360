import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readSetupFile } from '../../cli/setup-plan/plan-text.ts'

let outer: string
let folder: string
beforeAll(async () => {
  outer = await realpath(await mkdtemp(join(tmpdir(), 'set-up-')))
  folder = join(outer, 'firm')
  await mkdir(join(folder, 'rates'), { recursive: true })
  await writeFile(join(outer, 'secret.txt'), 'of somebody else')
  await mkdir(join(outer, 'firm-of-another'))
  await writeFile(join(outer, 'firm-of-another', 'rates.csv'), 'of somebody else')
  await writeFile(join(folder, 'rates', 'life.csv'), 'age,rate')
  await symlink(join(outer, 'secret.txt'), join(folder, 'linked.csv'))
  await symlink(outer, join(folder, 'linked'))
  await symlink(join(folder, 'rates', 'life.csv'), join(folder, 'life.csv'))
  await symlink(folder, join(outer, 'by-link'))
})
afterAll(async () => rm(outer, { recursive: true }))

const reading = async (name: string, at = folder) => {
  const file = join(at, 'organisation.yaml')
  await writeFile(file, JSON.stringify({ organisations: [{ rates: [{ file: name }] }] }))
  return (await readSetupFile(file)).files
}

describe('a file that a set-up file names', () => {
  test.each(['rates/life.csv', './rates/../rates/life.csv', 'life.csv'])(
    'in its folder or below is sent: %s',
    async (name) => {
      expect(await reading(name)).toEqual({ [name]: 'age,rate' })
      expect(await reading(name, join(outer, 'by-link'))).toEqual({ [name]: 'age,rate' })
    },
  )

  test.each([
    ['an absolute path', () => join(outer, 'secret.txt')],
    ['the folder above', () => '../secret.txt'],
    ['the folder above, by the way of a folder below', () => 'rates/../../secret.txt'],
    ['a folder whose name begins alike', () => '../firm-of-another/rates.csv'],
    ['a link', () => 'linked.csv'],
    ['a link to a folder', () => 'linked/secret.txt'],
    ['the folder above, where there is no such file', () => '../missing.csv'],
    ['the folder itself', () => '.'],
  ])('elsewhere is not read: %s', async (_how, name) => {
    await expect(reading(name())).rejects.toThrow(`${name()} is not in the folder of the set-up file, nor below.`)
  })

  test('is no folder, nor is the set-up file itself: one line says so', async () => {
    await expect(reading('rates')).rejects.toThrow(`${join(folder, 'rates')} is a folder. Name a file.`)
    await expect(readSetupFile(folder)).rejects.toThrow(`${folder} is a folder. Name a file.`)
  })

  test('that is not there is left to the service, which says where it is named', async () => {
    expect(await reading('rates/missing.csv')).toEqual({})
  })
})
