import { textOf } from '../server/numbers.js';
import { ErrorReply, type Reply, StatusReply } from '../server/reply.js';
import { lua, luaString, type LuaState, textAt } from './fengari.js';

const ERR = luaString('err');
const OK = luaString('ok');

/** Puts a reply on the stack as a script sees it. */
export function pushReply(state: LuaState, reply: Reply): void {
  if (typeof reply === 'string') lua.lua_pushstring(state, luaString(reply));
  else if (typeof reply === 'number') lua.lua_pushnumber(state, reply);
  else if (reply === null) lua.lua_pushboolean(state, false);
  else if (reply instanceof StatusReply) pushSingle(state, OK, reply.text);
  else if (reply instanceof ErrorReply) pushSingle(state, ERR, reply.text);
  else pushList(state, reply);
}

/** Puts a table with one field on the stack. */
function pushSingle(state: LuaState, field: Uint8Array, text: string): void {
  lua.lua_createtable(state, 0, 1);
  lua.lua_pushstring(state, luaString(text));
  lua.lua_setfield(state, -2, field);
}

export function pushList(state: LuaState, list: readonly Reply[]): void {
  lua.lua_createtable(state, list.length, 0);
  list.forEach((item, i) => {
    pushReply(state, item);
    lua.lua_rawseti(state, -2, i + 1);
  });
}

/** The arguments that a script gives to a command; `undefined` if one of them is neither a text nor a number. */
export function commandAt(state: LuaState): string[] | undefined {
  const words: string[] = [];
  for (let i = 1, count = lua.lua_gettop(state); i <= count; i++) {
    const type = lua.lua_type(state, i);
    if (type === lua.LUA_TNUMBER) words.push(textOf(lua.lua_tonumber(state, i)));
    else if (type === lua.LUA_TSTRING) words.push(textAt(state, i));
    else return undefined;
  }
  return words;
}

/** What the script returns, at the top of the stack, as a reply. */
export function replyAt(state: LuaState): Reply {
  switch (lua.lua_type(state, -1)) {
    case lua.LUA_TSTRING:
      return textAt(state, -1);
    case lua.LUA_TNUMBER:
      return longOf(lua.lua_tonumber(state, -1));
    case lua.LUA_TBOOLEAN:
      return lua.lua_toboolean(state, -1) ? 1 : null;
    case lua.LUA_TTABLE:
      return replyOfTable(state);
    default:
      return null;
  }
}

/** As C casts a double: what has no room in 64 bits becomes the least number. */
function longOf(value: number): number {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) + 0 : -(2 ** 63);
}

function replyOfTable(state: LuaState): Reply {
  const error = fieldAt(state, ERR);
  if (error !== undefined) return new ErrorReply(error);
  const status = fieldAt(state, OK);
  if (status !== undefined) return new StatusReply(status);
  const list: Reply[] = [];
  for (let i = 1; ; i++) {
    const type = lua.lua_rawgeti(state, -1, i);
    if (type !== lua.LUA_TNIL) list.push(replyAt(state));
    lua.lua_pop(state, 1);
    if (type === lua.LUA_TNIL) return list;
  }
}

function fieldAt(state: LuaState, name: Uint8Array): string | undefined {
  const isText = lua.lua_getfield(state, -1, name) === lua.LUA_TSTRING;
  const text = isText ? textAt(state, -1) : undefined;
  lua.lua_pop(state, 1);
  return text;
}

/** The text of the error at the top of the stack: a table as `redis.call` raises it, or a text of Lua's own. */
export function errorAt(state: LuaState): string {
  if (lua.lua_type(state, -1) === lua.LUA_TTABLE) return fieldAt(state, ERR) ?? '';
  return `ERR ${textAt(state, -1)}`;
}
