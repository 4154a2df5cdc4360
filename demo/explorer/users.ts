import { randomBytes } from 'node:crypto'
import { dataOf, idOf, listOf, textOf, type Example, type Examples, type Send } from './requests.ts'

type Team = {
  /** Of the address, in the names of its operations: `OrganisationUser`, `User`. */
  readonly name: string
  readonly address: string
  readonly path: Readonly<Record<string, string>>
  readonly roles: readonly string[]
}

/** The people of a team with whom something is tried. They are the same for every page, so that there are never many. */
const prepareTeam = async (operator: Send, { name, address, path, roles }: Team): Promise<Examples> => {
  const added = randomBytes(4).toString('hex')
  const all = listOf(await operator('GET', `${address}?limit=200`))
  const inForce = all.filter((each) => each['in_force'] === true)
  const person = async (who: string) => {
    const email = `${who}@explorer.example.com`
    const known = inForce.find((each) => each['email'] === email)
    return known
      ? textOf(known, 'id')
      : idOf(await operator('POST', address, { name: `Explorer ${who}`, email, roles }))
  }
  const kept = await person('kept')
  const removed = await person('to-end')

  const ended = all.find((each) => each['in_force'] === false)
  const toErase = ended ? textOf(ended, 'id') : await person('to-erase')
  if (!ended) await operator('DELETE', `${address}/${toErase}`)

  const signsIn = await person('signs-in')
  for (const user of [kept, signsIn]) {
    const { keys } = dataOf(await operator('GET', `${address}/${user}`))
    // The newest may be those of another page.
    for (const key of listOf({ data: keys }).slice(0, -2))
      await operator('DELETE', `${address}/${user}/keys/${textOf(key, 'id')}`)
  }
  const made = async (user: string) => dataOf(await operator('POST', `${address}/${user}/keys`, {}))
  const key = async () => textOf(listOf({ data: (await made(kept))['keys'] }).at(-1), 'id')
  const [toRotate, toEnd] = [await key(), await key()]

  const example = (of: Readonly<Record<string, string>> = {}, body?: object): Example => ({
    path: { ...path, ...of },
    ...(body && { body }),
  })
  const another = { name: `Explorer ${added}`, email: `${added}@explorer.example.com`, roles }
  return {
    [`get${name}s`]: example(),
    [`post${name}s`]: example({}, another),
    [`get${name}`]: example({ user_id: kept }),
    [`patch${name}`]: example({ user_id: kept }, { name: 'Explorer, renamed' }),
    [`delete${name}`]: example({ user_id: removed }),
    [`post${name}Erasure`]: example({ user_id: toErase }),
    [`post${name}Keys`]: example({ user_id: kept }, {}),
    [`post${name}KeyRotate`]: example({ user_id: kept, key_id: toRotate }, { overlap_seconds: 0 }),
    [`post${name}Invitation`]: example({ user_id: kept }),
    [`delete${name}Key`]: example({ user_id: kept, key_id: toEnd }),
    postSession: { path: {}, body: { key: textOf(await made(signsIn), 'key') } },
  }
}

/** Examples of operations on people of a firm, and on those of the installation. */
export const prepareUsers = async (operator: Send, organisation_id: string): Promise<Examples> => ({
  ...(await prepareTeam(operator, {
    name: 'OrganisationUser',
    address: `/admin/v1/organisations/${organisation_id}/users`,
    path: { organisation_id },
    roles: ['leads'],
  })),
  ...(await prepareTeam(operator, { name: 'User', address: '/admin/v1/users', path: {}, roles: ['auditor'] })),
})
