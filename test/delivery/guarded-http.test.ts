import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from 'vitest'
import { plainPermission } from '#infra/guarded-addresses.ts'
import { client, listening, local, resolvingTo, saying, serverThat } from './guarded-http.ts'

describe('nothing is reached but the public internet', () => {
  /** Written in every way that is known to have fooled others. */
  const literals = [
    '127.0.0.1',
    '127.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '0x7f000001',
    '2130706433',
    '017700000001',
    '127.0.0.1.',
    '①②⑦.⓪.⓪.①',
    '%31%32%37.0.0.1',
    '0',
    '0.0.0.0',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:ffff:127.0.0.1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '169.254.169.254',
    '[::ffff:169.254.169.254]',
    '[fe80::1]',
    '[fc00::1]',
    '[fd00:ec2::254]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '198.18.0.1',
    '255.255.255.255',
    '224.0.0.1',
  ]

  test.each(literals)('not the literal %s', async (literal) => {
    await using receiver = await serverThat((_request, response) => response.end())
    await using http = client()

    const exchange = await http.post(`https://${literal}:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'refused', reason: saying('not a public address') })
  })

  test.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '169.254.169.254',
    '0.0.0.0',
    'fe80::1',
    'fc00::1',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '::ffff:169.254.169.254',
    '::ffff:a00:1',
    '2002:a00:1::',
    '2001:0:a00:1::',
    'fd00:ec2::254',
    '100.100.100.200',
    '192.0.0.192',
    '172.31.0.1',
    '192.168.1.1',
    '0.0.0.1',
    '::',
  ])('not a name that resolves to %s', async (address) => {
    await using http = client(resolvingTo(address))

    const exchange = await http.post('https://crm.example.com/')

    expect(exchange).toEqual({
      outcome: 'refused',
      reason: `crm.example.com is ${address}, not a public address`,
    })
  })

  test('not a name of which one address of several is private', async () => {
    await using http = client(resolvingTo('93.184.215.14', '127.0.0.1'))

    expect(await http.post('https://crm.example.com/')).toMatchObject({ outcome: 'refused' })
  })

  test.each(['localhost', 'LOCALHOST'])('not this machine by the name %s', async (name) => {
    await using http = client()

    expect(await http.post(`https://${name}:1/`)).toMatchObject({ outcome: 'refused' })
  })

  test('not another address than the one that was checked, when a name changes what it resolves to', async () => {
    await using receiver = await serverThat((_request, response) => response.end())
    const answers = ['127.0.0.1', '10.9.9.9']
    let lookups = 0
    const lookup = async () => [{ address: answers[lookups++] ?? '10.9.9.9', family: 4 }]
    await using http = client({ allowedHosts: [`crm.example.com:${receiver.port}`], lookup })

    const exchange = await http.post(`http://crm.example.com:${receiver.port}/`)

    expect(exchange).toMatchObject({ outcome: 'answered', status: 200 })
    expect(lookups).toBe(1)
  })

  test.each([
    'http://crm.example.com/',
    'ftp://crm.example.com/',
    'file:///etc/passwd',
    'data:text/plain,hello',
    'unix:/var/run/docker.sock',
    'crm.example.com',
    '',
    'https://user:secret@crm.example.com/',
    'https://user@crm.example.com/',
  ])('not by %s', async (url) => {
    await using http = client(resolvingTo('93.184.215.14'))

    expect(await http.post(url)).toMatchObject({ outcome: 'refused' })
  })

  test('http not even with a host that is allowed, unless the operator says so', async () => {
    await using receiver = await serverThat((_request, response) => response.end())
    await using http = client({ ...local, allowHttp: false })

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'refused' })
  })
})

test.each([
  ['http://127.0.0.1:4010/hooks', true, true],
  ['http://127.0.0.2:4010/hooks', true, false],
  ['https://127.0.0.1:4010/hooks', true, false],
  ['ftp://127.0.0.1:4010/hooks', true, false],
  ['nonsense', true, false],
  ['http://127.0.0.1:4010/hooks', false, false],
])('plain http to %s, when the operator lets it be spoken with its hosts (%s): %s', (address, allowHttp, isAllowed) => {
  expect(plainPermission({ ...local, allowHttp }, 'http:')(address)).toBe(isAllowed)
})

describe('what the operator allows', () => {
  test('is reached', async () => {
    await using receiver = await serverThat((_request, response) => response.writeHead(201).end('made'))
    await using http = client(local)
    const url = `http://127.0.0.1:${receiver.port}/`

    const exchange = await http.post(url)

    expect(exchange).toMatchObject({ outcome: 'answered', status: 201, body: Buffer.from('made') })
  })

  test('may be one port of a host', async () => {
    await using receiver = await serverThat((_request, response) => response.end())
    await using http = client({ allowedHosts: [`127.0.0.1:${receiver.port}`] })

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'answered' })
    expect(await http.post('https://127.0.0.1:1/')).toMatchObject({ outcome: 'refused' })
  })
})

describe('a request', () => {
  test('goes to the address exactly as entered, with the body as it is', async () => {
    const seen: string[] = []
    await using receiver = await serverThat((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(chunk.toString()))
      request.on('end', () => response.end())
      seen.push(`${request.method} ${request.url} ${request.headers['content-length']}`)
    })
    await using http = client(local)

    await http.post(`http://127.0.0.1:${receiver.port}/hooks/a%2Fb?team=7&x=%20`, '{"name":"Zoë"}')

    expect(seen).toEqual(['POST /hooks/a%2Fb?team=7&x=%20 15', '{"name":"Zoë"}'])
  })

  test('is not redirected', async () => {
    let requests = 0
    await using receiver = await serverThat((_request, response) => {
      requests++
      response.writeHead(307, { location: '/elsewhere' }).end()
    })
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'answered', status: 307 })
    expect(requests).toBe(1)
  })

  test('to a name that does not resolve has no answer, and so may be tried again', async () => {
    const lookup = async () => {
      throw Object.assign(new Error('getaddrinfo ENOTFOUND gone.example.com'), { code: 'ENOTFOUND' })
    }
    await using http = client({ lookup })

    expect(await http.post('https://gone.example.com/')).toMatchObject({
      outcome: 'unanswered',
      reason: saying('ENOTFOUND'),
    })
  })

  test('to a port that nobody listens on has no answer', async () => {
    const closed = await serverThat((_request, response) => response.end())
    await closed[Symbol.asyncDispose]()
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${closed.port}/`)).toMatchObject({
      outcome: 'unanswered',
      reason: saying('ECONNREFUSED'),
    })
  })

  test('to a server that hangs up has no answer', async () => {
    await using receiver = await serverThat((request) => request.socket.destroy())
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })

  test('to a server that resets the connection has no answer', async () => {
    await using receiver = await serverThat((request) => request.socket.resetAndDestroy())
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })

  test('to a server that closes its half of the connection, and no more, has no answer', async () => {
    const halfOpen = createTcpServer({ allowHalfOpen: true }, (socket) => socket.end())
    await using receiver = await listening(halfOpen)
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })

  test('to a server that ends in the middle of its headers has no answer', async () => {
    await using receiver = await listening(createTcpServer((socket) => socket.end('HTTP/1.1 200 OK\r\nX-Half: ')))
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })

  test('to a server that breaks off in its body was answered: the status is known', async () => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf'
    await using receiver = await listening(createTcpServer((socket) => socket.end(answer)))
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'answered', status: 200 })
  })

  test('to a server that speaks no HTTP has no answer', async () => {
    await using receiver = await listening(createTcpServer((socket) => socket.end('220 smtp.example.com ESMTP\r\n')))
    await using http = client(local)

    expect(await http.post(`http://127.0.0.1:${receiver.port}/`)).toMatchObject({ outcome: 'unanswered' })
  })
})
